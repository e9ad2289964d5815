// Asks the server of orrery explore.
//   orrery.ask(route, question)              a promise of its answer; null where a newer question has made it stale
//   orrery.askLines(route, question, onLine) the same of an answer in lines: all but the last go to onLine
//   orrery.connection                        {onChange(f)}: f(true) when the server answers again, f(false) when it is gone
"use strict";

Object.assign(orrery, (() => {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const page = String(Math.random()).slice(2);
  const turns = new Map();
  const listeners = [];
  let connected = true;

  const tell = (now) => {
    if (now === connected) return;
    connected = now;
    listeners.forEach((listener) => listener(now));
  };
  const post = async (route, question, turn) => {
    try {
      const answer = await fetch(`/${route}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Orrery-Token": token, "X-Orrery-Page": `${page}/${route}`, "X-Orrery-Turn": String(turn) },
        body: JSON.stringify(question),
      });
      tell(true);
      return answer;
    } catch (error) {
      tell(false);
      throw error;
    }
  };
  // Questions of one route: the newest alone is answered.
  const begin = (route) => {
    turns.set(route, (turns.get(route) ?? 0) + 1);
    return turns.get(route);
  };

  const ask = async (route, question) => {
    const turn = begin(route);
    const answer = await (await post(route, question, turn)).json();
    return answer.stale || turn !== turns.get(route) ? null : answer;
  };
  const askLines = async (route, question, onLine) => {
    const turn = begin(route);
    const reader = (await post(route, question, turn)).body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      const lines = text.split("\n");
      text = lines.pop();
      lines.slice(0, -1).forEach((line) => onLine(JSON.parse(line)));
      if (lines.length > 0) {
        const last = JSON.parse(lines[lines.length - 1]);
        if ("done" in last) onLine(last);
        else return last;
      }
    }
    return null;
  };
  return { ask, askLines, connection: { onChange: (listener) => listeners.push(listener) } };
})());

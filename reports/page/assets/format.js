// Numbers as words, in the units of the summary that `orrery simulate` prints.
//   duration(seconds)    "24.252 s", "416.729 ms", "3.100 us"; also spanned(seconds, of): in the unit that suits `of`
//   picoseconds(ps)      the same of picoseconds
//   percent(share)       "73.9 %"
//   scaled(number)       "1.23 M": three significant digits; scaled(number, "B/s") "1.23 MB/s"
//   bytes(number)        "83.3 MB" (powers of 1000)
//   digits(number, n)    n significant digits and never an exponent for large numbers
//   count(number)        whole, with thin spaces between thousands
//   plural(number, "GPU")   "1 GPU", "8 GPUs"; plural(number, "copy", "copies")
//   value(anything)      what a table shows of a value of the JSON: numbers short, true as yes, null as a dash
"use strict";

orrery.format = (() => {
  const kNone = "\u2013";
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"], [1e-12, "ps"]];

  const unitOf = (seconds) => {
    const size = Math.abs(seconds);
    if (size === 0) return units[0];
    return units.find(([unit]) => size >= unit) ?? units[units.length - 1];
  };
  const inUnit = (seconds, [unit, name], decimals) => `${(seconds / unit).toFixed(decimals)} ${name}`;
  const duration = (seconds) => (Number.isFinite(seconds) ? inUnit(seconds, unitOf(seconds), 3) : kNone);

  // With as many decimals as tell `step` from the next tick.
  const spanned = (seconds, of, step = of / 1000) => {
    const unit = unitOf(of);
    const steps = step / unit[0];
    let decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(steps) - 1e-9)));
    // A round step, as of 0.25, has a second digit that tells its ticks apart.
    const isWhole = (n) => Math.abs(steps * 10 ** n - Math.round(steps * 10 ** n)) < 1e-6;
    if (decimals < 6 && !isWhole(decimals) && isWhole(decimals + 1)) decimals += 1;
    return inUnit(seconds, unit, decimals);
  };

  const trimmed = (size) => (size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  const scaled = (number, unit = "") => {
    if (!Number.isFinite(number)) return kNone;
    const prefixes = ["", "k", "M", unit ? "G" : "B", "T", "P"];
    let size = Math.abs(number);
    let prefix = 0;
    while (size >= 999.5 && prefix + 1 < prefixes.length) {
      size /= 1000;
      ++prefix;
    }
    const whole = prefix === 0 && Number.isInteger(size);
    const text = (number < 0 ? "-" : "") + size.toFixed(whole ? 0 : trimmed(size));
    const name = prefixes[prefix] + unit;
    return name ? `${text} ${name}` : text;
  };

  const digits = (number, n = 3) => {
    if (number === null || !Number.isFinite(number)) return kNone;
    if (number === 0 || Number.isInteger(number)) return String(number);
    const size = Math.abs(number);
    if (size >= 10 ** n) return number.toFixed(0);
    if (size < 1e-4) return number.toExponential(n - 1);
    return number.toFixed(Math.max(0, n - 1 - Math.floor(Math.log10(size))));
  };

  const count = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
  const percent = (share, decimals = 1) =>
    (Number.isFinite(share) ? `${(100 * share).toFixed(decimals)} %` : kNone);

  const value = (of) => {
    if (of === null || of === undefined) return kNone;
    if (typeof of === "number") return digits(of, 5);
    if (typeof of === "boolean") return of ? "yes" : "no";
    return typeof of === "object" ? JSON.stringify(of) : String(of);
  };

  return {
    none: kNone,
    duration,
    spanned,
    picoseconds: (ps) => duration(ps * 1e-12),
    percent,
    scaled,
    bytes: (number) => scaled(number, "B"),
    digits,
    count,
    plural,
    value,
  };
})();

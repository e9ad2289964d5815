// Takes what third_party/tiny-inflate exports, which comes as a module: orrery's core.js unpacks columns with it.
"use strict";

globalThis.module = {};

#!/usr/bin/env node
// Runs any script under Node 26: `node bin/run.js SCRIPT [ARGUMENTS]`. The npm scripts start with it.
import { resolve } from 'node:path';
import { runUnderNode26 } from './node-26.js';

const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  process.stderr.write('usage: node bin/run.js SCRIPT [ARGUMENTS]\n');
  process.exit(2);
}
runUnderNode26(resolve(script), args);

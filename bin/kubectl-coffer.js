#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { runUnderNode26 } from './node-26.js';

runUnderNode26(fileURLToPath(new URL('../operator/plugin/main.ts', import.meta.url)), process.argv.slice(2));

import { createRequire } from 'node:module';
import type * as NodeHttp from 'node:http';

/** An import statement would read all exports of `node:http`. One of them, `WebSocket`, then loads another HTTP client, for 50 ms. */
const http = createRequire(import.meta.url)('node:http') as typeof NodeHttp;

export const { Agent, request } = http;

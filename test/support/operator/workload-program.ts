import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseAddress } from '../../../platform/http/listen.ts';
import { waitsForHeader } from '../../../protocol/waits-for.ts';

// Stands in for coffer-server in tests of the local runtime: answers health, tells its arguments and environment, and misbehaves by
// the files of its data folder: `crash` ends it at the start, `not-ready` makes it answer 503, and
// say that it waits for what the file holds.

const [folder = '', , address = '127.0.0.1:0'] = process.argv.slice(2);
const note = (line: string) => appendFileSync(`${folder}/log`, `${line}\n`);

note('start');
if (existsSync(`${folder}/crash`)) {
  process.stdout.write(`${JSON.stringify({ level: 'error', msg: 'told to crash' })}\n`);
  process.exit(3);
}

const server = createServer((request, response) => {
  if (request.url === '/told') {
    const files = Object.entries(process.env).flatMap(([name, path]) =>
      name.startsWith('SVC_ROOT_') && path !== undefined && existsSync(path)
        ? [[name, readFileSync(path, 'utf8')]]
        : [],
    );
    response.end(JSON.stringify({ args: process.argv.slice(2), env: process.env, files: Object.fromEntries(files) }));
    return;
  }
  const notReady = existsSync(`${folder}/not-ready`);
  response.statusCode = notReady ? 503 : 200;
  const waitsFor = notReady ? readFileSync(`${folder}/not-ready`, 'utf8') : '';
  if (waitsFor !== '') response.setHeader(waitsForHeader, waitsFor);
  response.end();
});
const { host, port } = parseAddress(address);
server.listen(port, host);

function end(why: string): void {
  note(`end ${why}`);
  process.exit(0);
}
process.on('SIGTERM', () => end('SIGTERM'));
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1') process.on('disconnect', () => end('disconnect'));

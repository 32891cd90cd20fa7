// The health check of the image: exit status 0 while the server of this container answers `/minio/health/live`, 1 otherwise.
// Other programs of the image have no health check. `node health-check.js [FILE]`, FILE: the command line of process 1.
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const words = readFileSync(process.argv[2] ?? '/proc/1/cmdline', 'utf8').split('\0');
const isServer = words.some((word) => /(^|\/)coffer-server(\.js)?$|(^|\/)server\/main\.[jt]s$/.test(word));
if (!isServer) process.exit(0);

const given = words[words.indexOf('--address') + 1];
const named = words.find((word) => word.startsWith('--address='))?.slice('--address='.length);
const address =
  named ?? (words.includes('--address') ? given : (process.env.SVC_ADDRESS ?? process.env.MINIO_ADDRESS ?? ':9000'));
const [, bound = '', port = '9000'] = /^(.*?):(\d+)$/.exec(address) ?? [];
const host = ['', '0.0.0.0', '*', '[::]'].includes(bound) ? '127.0.0.1' : bound.replace(/^\[(.*)\]$/, '$1');

/** The certificate is for the public name of the server, and this is the same machine. */
const ask = (request) =>
  new Promise((resolve) => {
    const options = { host, port, path: '/minio/health/live', timeout: 5_000, rejectUnauthorized: false };
    request(options, (answer) => resolve(answer.resume().statusCode === 200))
      .on('timeout', function end() {
        this.destroy(new Error('no answer'));
      })
      .on('error', () => resolve(false))
      .end();
  });

if ((await ask(httpRequest)) || (await ask(httpsRequest))) process.exit(0);
process.stderr.write(`the server does not answer at ${host}:${port}\n`);
process.exit(1);

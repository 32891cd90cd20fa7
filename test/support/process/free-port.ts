import { createServer } from 'node:net';

/** Below the ports that Linux gives to clients and to `listen(0)`: nobody is given one by chance before it is used. */
const first = 10_240;
const last = 32_767;
/** Test files run side by side, each process in a range of its own; other runs on this machine begin elsewhere. */
const perProcess = 512;

let next = Number(process.env['VITEST_POOL_ID'] ?? 0) * perProcess + process.ppid * 7_919;

/** A port of 127.0.0.1 that is free: for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next % (last - first));
    next += 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

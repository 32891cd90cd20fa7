import { afterEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../store-error.ts';
import { ConnectionPool, type PooledConnection } from './connection-pool.ts';
import type { Statement } from './connection.ts';

const statement: Statement = { name: 'test', text: 'select 1' };

/** A server that takes so many connections. Each statement ends when it is answered. */
class Server {
  room = Infinity;
  opened = 0;
  readonly live = new Set<PooledConnection>();
  readonly ran: PooledConnection[] = [];
  fail: Error = new StoreError('unreachable', 'too many connections');
  hold: Promise<void> | undefined;

  async open(): Promise<PooledConnection> {
    this.opened += 1;
    await this.hold;
    if (this.live.size >= this.room) throw this.fail;
    const { live, ran } = this;
    const statements = { load: 0 };
    const connection: PooledConnection = {
      get alive() {
        return live.has(connection);
      },
      get load() {
        return statements.load;
      },
      async run() {
        statements.load += 1;
        ran.push(connection);
        await Promise.resolve();
        statements.load -= 1;
        return [];
      },
      change: () => connection.run(statement, []),
      close() {
        live.delete(connection);
      },
    };
    live.add(connection);
    return connection;
  }
}

let server: Server;
let pool: ConnectionPool;
let now = 0;
const shortages: (string | undefined)[] = [];

function open(connections = 8): void {
  server = new Server();
  now = 0;
  shortages.length = 0;
  pool = new ConnectionPool({
    open: () => server.open(),
    connections,
    where: 'PostgreSQL at test',
    timeout: 50,
    clock: () => now,
    onShortage: (error) => shortages.push(error?.message),
  });
}
const commit = () => pool.exclusively((connection) => connection.change(statement, []));

afterEach(() => pool.close());

describe('a pool whose server takes no more connections', () => {
  it('commits on the one that is open, after a burst wanted more', async () => {
    open();
    await commit();
    server.room = 1;
    await Promise.all(Array.from({ length: 6 }, commit));
    server.ran.length = 0;
    const before = server.opened;
    await commit();
    await commit();
    expect(server.ran).toHaveLength(2);
    expect(server.opened).toBe(before);
  });

  it('reads and commits on the same one, where it takes a single one', async () => {
    open();
    server.room = 1;
    await pool.read(statement, []);
    await commit();
    await pool.read(statement, []);
    expect(new Set(server.ran).size).toBe(1);
  });

  it('reports the shortage once, and its end', async () => {
    open();
    server.room = 1;
    await Promise.all([commit(), commit(), commit()]);
    now += 10_001;
    server.room = 8;
    await Promise.all([commit(), commit(), commit()]);
    expect(shortages).toEqual(['too many connections', undefined]);
  });

  it('throws the reason where none is open', async () => {
    open();
    server.room = 0;
    await expect(commit()).rejects.toThrow('too many connections');
    await expect(pool.read(statement, [])).rejects.toThrow('too many connections');
    server.room = 8;
    await commit();
  });
});

describe('a connection', () => {
  it('that no commit needed for a minute is closed, but one', async () => {
    open();
    await Promise.all(Array.from({ length: 6 }, commit));
    expect(server.live.size).toBe(6);
    now += 60_001;
    pool.closeIdle();
    expect(server.live.size).toBe(1);
    await commit();
    expect(server.live.size).toBe(1);
  });

  it('that opens after the end of the pool is closed', async () => {
    open();
    const opening = Promise.withResolvers<void>();
    server.hold = opening.promise;
    const reading = pool.read(statement, []);
    await vi.waitFor(() => expect(server.opened).toBe(1));
    await pool.close();
    opening.resolve();
    await expect(reading).rejects.toMatchObject({ code: 'closed' });
    expect(server.live.size).toBe(0);
  });
});

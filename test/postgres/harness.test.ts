import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

it('is a durable server whose data outlives a kill and a stop', async () => {
  expect(await server.asSuperuser('show fsync')).toEqual([{ fsync: 'on' }]);
  await server.asSuperuser('create table kept (a int)');
  await server.kill();
  await expect(server.asSuperuser('select 1')).rejects.toThrow(/ECONNREFUSED/u);
  await server.start();
  await server.asSuperuser('insert into kept values (1)');
  await server.stop();
  await server.start();
  expect(await server.asSuperuser('select * from kept')).toEqual([{ a: 1 }]);
});

it('hangs while it is paused', async () => {
  server.pause();
  let answered = false;
  const asking = server.asSuperuser('select 1 as one').then((rows) => {
    answered = true;
    return rows;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(answered).toBe(false);
  server.resume();
  expect(await asking).toEqual([{ one: 1 }]);
});

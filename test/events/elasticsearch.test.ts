import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../platform/http/listen.ts';
import { openTarget } from '../../server/notifications/open-target.ts';
import type { TargetValues } from '../../server/notifications/target.ts';
import { ElasticsearchDouble } from './elasticsearch-double.ts';

let double: ElasticsearchDouble;
let values: TargetValues;

beforeEach(async () => {
  double = new ElasticsearchDouble('events', 'password');
  values = { url: await double.start(), index: 'bucket-events', username: 'events', password: 'password' };
});
afterEach(() => double.stop());

const open = (more: TargetValues = {}) =>
  openTarget({ id: 'A', type: 'elasticsearch', queueLimit: 1, values: { ...values, ...more } });
const event = (number: number | string, name = 's3:ObjectCreated:Put', key = 'b/a key') => {
  const record = { eventName: name, number };
  return { name, key, time: '2026-01-02T03:04:05.006Z', record, body: '' };
};
const documents = () => double.indices.get('bucket-events')?.map(({ source }) => source);
const records = (...numbers: readonly number[]) => numbers.map((number) => ({ Records: [event(number).record] }));

describe('a proxy before Elasticsearch', () => {
  it.each([200, 302, 404, 408, 421, 425, 429, 503])('has taken no event with a page of %i', async (status) => {
    const proxy = createServer((request, response) => {
      request.resume();
      response.writeHead(request.method === 'HEAD' ? 200 : status).end('<html></html>');
    });
    const { port } = await listen(proxy, { host: '127.0.0.1', port: 0 }, { setting: '' });
    const target = await open({ url: `http://127.0.0.1:${port}` });
    for (const name of ['s3:ObjectCreated:Put', 's3:ObjectRemoved:Delete'])
      await expect(target.send(event(1, name))).rejects.toMatchObject({ code: 'unavailable' });
    await target.close();
    proxy.close();
  });
});

describe('Elasticsearch', () => {
  it('gets an index, and the last event of each object', async () => {
    const target = await open();
    const { record: _none, ...test } = event(0, 's3:TestEvent');
    await target.send(test);
    expect(documents()).toEqual([]);
    for (const number of [1, 2]) await target.send(event(number));
    await target.send(event(3, undefined, `b/${'ä'.repeat(500)}`));
    expect(documents()).toEqual(records(2, 3));
    await target.send(event(4, 's3:ObjectRemoved:Delete'));
    await target.send(event(4, 's3:ObjectRemoved:Delete'));
    expect(documents()).toEqual(records(3));
    await target.close();
  });

  it('gets a document for each event, in an index that is there', async () => {
    double.indices.set('bucket-events', []);
    const target = await open({ format: 'access' });
    for (const number of [1, 2]) await target.send(event(number));
    expect(documents()).toEqual(records(1, 2));
    await target.close();
  });

  it('that refuses a password is away', async () => {
    const target = await open({ password: 'wrong' });
    await expect(target.send(event(1))).rejects.toMatchObject({ code: 'unavailable', message: 'it answered 401' });
    await target.close();
  });

  it('that cannot take one event says which field it is, and takes others', async () => {
    const target = await open();
    const rejected = { code: 'rejected', message: 'it answered 400: failed to parse field [number]' };
    await expect(target.send(event('unparsable'))).rejects.toMatchObject(rejected);
    await target.send(event(1));
    expect(documents()).toEqual(records(1));
    await target.close();
  });

  it('that refuses the index is away, since that is of all events', async () => {
    const target = await open({ index: 'refused' });
    await expect(target.send(event(1))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'it answered 400: invalid index name',
    });
    await target.close();
  });

  it('gets its index again after it was removed', async () => {
    const target = await open();
    await target.send(event(1));
    double.indices.clear();
    await expect(target.send(event(2))).rejects.toThrow(/no such index/);
    await target.send(event(2));
    expect(documents()).toEqual(records(2));
    await target.close();
  });
});

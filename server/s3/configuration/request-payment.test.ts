import { describe, expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const payment = (content: string) => `<RequestPaymentConfiguration>${content}</RequestPaymentConfiguration>`;
const acceleration = (content: string) => `<AccelerateConfiguration>${content}</AccelerateConfiguration>`;

describe('request payment and acceleration', () => {
  it.each([
    ['requestPayment', payment(''), payment('<Payer>Requester</Payer>')],
    ['accelerate', acceleration(''), acceleration('<Status>Enabled</Status>')],
  ])('?%s is answered as it was put, and keeps the other', async (name, empty, document) => {
    const { call } = await testCalls();
    await call('PUT', '/bucket?accelerate', { body: acceleration('<Status>Suspended</Status>') });
    expect(await call('PUT', `/bucket?${name}`, { body: document })).toMatchObject({ status: 200, body: '' });
    const [, content = ''] = /^<\w+>(.*)<\/\w+>$/.exec(document) ?? [];
    expect((await call('GET', `/bucket?${name}`)).body).toContain(content);
    expect((await call('GET', '/bucket?accelerate')).body).toContain('<Status>');
    expect(await call('PUT', `/bucket?${name}`, { body: empty })).toMatchObject({ status: 400, code: 'MalformedXML' });
  });

  it.each([
    ['requestPayment', payment('<Payer>Other</Payer>')],
    ['requestPayment', payment('<Payer>Requester</Payer><Payer>Requester</Payer>')],
    ['requestPayment', payment('<Payer><a/></Payer>')],
    ['accelerate', acceleration('<Status>On</Status>')],
    ['accelerate', payment('<Payer>Requester</Payer>')],
  ])('?%s refuses %s', async (name, body) => {
    const { call } = await testCalls();
    expect(await call('PUT', `/bucket?${name}`, { body })).toMatchObject({ status: 400, code: 'MalformedXML' });
  });

  it('acceleration is refused for a name with a period', async () => {
    const { call } = await testCalls();
    await call('PUT', '/with.period');
    const body = acceleration('<Status>Enabled</Status>');
    expect(await call('PUT', '/with.period?accelerate', { body })).toMatchObject({ code: 'InvalidRequest' });
  });
});

import { assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseParser } from './response-parser.ts';

/** Feeds the text in reads of this size; true when the last one completes the answer. */
function feed(parser: ResponseParser, text: string, chunk = text.length): boolean {
  const bytes = Buffer.from(text, 'latin1');
  let complete = false;
  for (let at = 0; at < bytes.length; at += chunk) {
    const part = bytes.subarray(at, at + chunk);
    complete = parser.feed(part, part.length);
  }
  return complete;
}

function expecting(bodiless = false): ResponseParser {
  const parser = new ResponseParser();
  parser.expect(bodiless);
  return parser;
}

const counted = 'HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nETag: "a"\r\n\r\nhello';
const chunked =
  'HTTP/1.1 206 Partial\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n';

describe('an answer of the benchmark', () => {
  it('is complete with the last byte that its length counts', () => {
    const parser = expecting();
    expect(feed(parser, counted)).toBe(true);
    expect(parser).toMatchObject({ status: 200, bodyBytes: 5, declaredLength: 5, closes: false });
  });

  it('is incomplete one byte before', () => {
    expect(feed(expecting(), counted.slice(0, -1))).toBe(false);
  });

  it('may come in chunks, with extensions and trailers', () => {
    const parser = expecting();
    expect(feed(parser, chunked)).toBe(true);
    expect(parser).toMatchObject({ status: 206, bodyBytes: 15 });
  });

  it('reads the same in reads of any size', () => {
    assert(
      property(constantFrom(counted, chunked), integer({ min: 1, max: 200 }), (text, chunk) => {
        const parser = expecting();
        let body = '';
        parser.onBody = (bytes) => (body += bytes.toString('latin1'));
        expect(feed(parser, text, chunk)).toBe(true);
        expect(body).toBe(text === counted ? 'hello' : 'hello0123456789');
      }),
    );
  });

  it.each([
    ['to HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 4096\r\n\r\n', true],
    ['of status 204', 'HTTP/1.1 204 No Content\r\n\r\n', false],
  ])('has no body %s', (_, text, bodiless) => {
    const parser = expecting(bodiless);
    expect(feed(parser, text)).toBe(true);
    expect(parser.bodyBytes).toBe(0);
  });

  it('reports the length that an answer to HEAD declares', () => {
    const parser = expecting(true);
    feed(parser, 'HTTP/1.1 200 OK\r\ncontent-length: 4096\r\n\r\n');
    expect(parser.declaredLength).toBe(4096);
  });

  it('ends with the connection where it has no length', () => {
    const parser = expecting();
    expect(feed(parser, 'HTTP/1.1 200 OK\r\n\r\nsome')).toBe(false);
    expect(parser.end()).toBe(true);
    expect(parser.bodyBytes).toBe(4);
  });

  it('is not complete when the connection ends before its length', () => {
    const parser = expecting();
    feed(parser, counted.slice(0, -1));
    expect(parser.end()).toBe(false);
  });

  it('passes over an interim answer', () => {
    const parser = expecting();
    expect(feed(parser, `HTTP/1.1 100 Continue\r\n\r\n${counted}`, 7)).toBe(true);
    expect(parser.status).toBe(200);
  });

  it('reports that the server closes the connection', () => {
    const parser = expecting();
    feed(parser, 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(parser.closes).toBe(true);
  });

  it('knows nothing of the answer before', () => {
    const parser = expecting();
    feed(parser, 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    parser.expect(false);
    feed(parser, counted);
    expect(parser).toMatchObject({ closes: false, bodyBytes: 5 });
  });

  it.each([
    ['bytes after a complete answer', `${counted}x`],
    ['no HTTP/1.1', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n'],
  ])('is refused with %s', (_, text) => {
    expect(() => feed(expecting(), text)).toThrow(/./);
  });
});

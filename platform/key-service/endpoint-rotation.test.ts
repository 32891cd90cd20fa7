import { describe, expect, it } from 'vitest';
import { EndpointRotation } from './endpoint-rotation.ts';

const endpoints = ['https://a:7373', 'https://b:7373', 'https://c:7373'];

describe('several endpoints', () => {
  it('take turns', () => {
    const rotation = new EndpointRotation(endpoints, 30_000, () => 0);
    expect([1, 2, 3, 4].map(() => rotation.candidates()[0])).toEqual([...endpoints, endpoints[0]]);
  });

  it('leave one that failed for last until its time is over', () => {
    let now = 0;
    const rotation = new EndpointRotation(endpoints, 30_000, () => now);
    rotation.failed('https://a:7373');
    expect(rotation.candidates()).toEqual(['https://b:7373', 'https://c:7373', 'https://a:7373']);
    now = 30_000;
    rotation.candidates();
    rotation.candidates();
    expect(rotation.candidates()[0]).toBe('https://a:7373');
  });

  it('are all tried where all failed', () => {
    const rotation = new EndpointRotation(endpoints, 30_000, () => 0);
    for (const endpoint of endpoints) rotation.failed(endpoint);
    expect(rotation.candidates()).toHaveLength(3);
  });
});

const of = (text: string) => new EndpointRotation([text], 0, () => 0).candidates()[0];

describe('an endpoint', () => {
  it.each([
    ['https://host', 'https://host:7373'],
    ['https://host:7373/', 'https://host:7373'],
    ['https://host:443', 'https://host'],
    ['host:7000', 'https://host:7000'],
    ['https://[::1]:7373', 'https://[::1]:7373'],
  ])('%s is %s', (text, endpoint) => {
    expect(of(text)).toBe(endpoint);
  });

  it.each(['http://host:7373', 'https://', 'https://host/path', 'https://user:hunter2@host'])('is not %s', (text) => {
    expect(() => of(text)).toThrow(/https:\/\//);
  });
});

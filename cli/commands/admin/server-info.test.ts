import { expect, it } from 'vitest';
import { failingTasks, keyServers, warnings } from './server-info.ts';

it('shows the background tasks that fail, and no other', () => {
  const since = '2026-01-02T03:04:05.000Z';
  const backgroundTasks = [
    { task: 'keys', state: 'ok' },
    { task: 'usage', state: 'failing', since, error: 'the disk is away\u001b[2J' },
  ];
  expect(failingTasks({ backgroundTasks })).toEqual([
    `Background task usage fails since ${since}: the disk is away\\x1b[2J`,
  ]);
  expect(failingTasks({})).toEqual([]);
});

it('shows a row for each key server while one of them does not answer', () => {
  const endpoints = { 'https://a:7373': 'online', 'https://b:7373': 'offline' };
  expect(keyServers({ services: { kms: { endpoints } } })).toEqual([
    'Key servers: 1/2 DEGRADED\n   https://a:7373: online\n   https://b:7373: offline',
  ]);
  expect(keyServers({ services: { kms: { endpoints: { 'https://a:7373': 'online' } } } })).toEqual([]);
  expect(keyServers({})).toEqual([]);
});

it('shows the warnings of a server', () => {
  expect(warnings({ warnings: ['the policies of "open" …'] })).toEqual(['Warning: the policies of "open" …']);
  expect(warnings({})).toEqual([]);
});

import { expect, it } from 'vitest';
import { traceParent } from './tracing.ts';

const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

it.each([
  [`00-${trace}-${span}-01`, 1],
  [`00-${trace}-${span}-00`, 0],
  [`01-${trace}-${span}-03-what-a-later-version-adds`, 1],
])('continues the trace of %s', (header, traceFlags) => {
  expect(traceParent(header)).toEqual({ traceId: trace, spanId: span, traceFlags, isRemote: true });
});

it.each([
  undefined,
  '',
  'nonsense',
  `ff-${trace}-${span}-01`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${trace}-${span}`,
])('begins a trace of its own at %s', (header) => {
  expect(traceParent(header)).toBeUndefined();
});

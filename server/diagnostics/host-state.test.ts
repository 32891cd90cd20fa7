import { describe, expect, it } from 'vitest';
import { deviceNumbers, diskCounters, interfaceCounters } from './host-state.ts';

describe('counters of the machine', () => {
  it('of a drive are those of its device', () => {
    const text = '   7       0 loop0 63 0 2264 49\n 254       1 vda1 10 0 20 30 40 0 50 60 0 70 80\n';
    expect(diskCounters(text, [254, 1])).toEqual([10, 0, 20, 30, 40, 0, 50, 60, 0, 70, 80]);
    expect(diskCounters(text, [8, 0])).toBeUndefined();
  });

  it('of an interface are the eight received and the eight sent ones', () => {
    const text =
      'Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  eth0:17 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n';
    expect(interfaceCounters(text, 'eth0')?.[0]).toBe(17);
    expect(interfaceCounters(text, 'lo')).toHaveLength(16);
    expect(interfaceCounters(text, 'eth1')).toBeUndefined();
  });

  it.each([
    [0x801n, [8, 1]],
    [0xfe01n, [254, 1]],
    [0x10300n, [259, 0]],
  ])('the device %s has the numbers %j', (device, numbers) => {
    expect(deviceNumbers(device)).toEqual(numbers);
  });
});

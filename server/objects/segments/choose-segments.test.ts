import { describe, expect, it } from 'vitest';
import type { ListedSegment, SegmentId } from '../../store/blob-store.ts';
import { chooseSegments } from './choose-segments.ts';
import type { Garbage } from '../garbage-collection/segment-garbage.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MiB = 1024 * 1024;

/** A segment of 100 MiB, sealed two minutes ago, as `also` says, and the garbage that was counted in it. */
function segment(name: string, garbage: Garbage | undefined, also: Partial<ListedSegment> = {}) {
  const listed = {
    segment: name as SegmentId,
    size: 100 * MiB,
    failed: 0,
    ageMs: 2 * MINUTE,
    sealed: true,
    small: false,
    ...also,
  };
  return { listed, garbage };
}

function chosen(...segments: readonly ReturnType<typeof segment>[]): readonly string[] {
  const counted = new Map(
    segments.flatMap(({ listed, garbage }) => (garbage === undefined ? [] : [[listed.segment, garbage] as const])),
  );
  const rules = { maxGarbage: 0.25, skew: 0, now: DAY };
  return chooseSegments(
    segments.map(({ listed }) => listed),
    counted,
    rules,
  ).map(({ segment: { segment: id }, joined }) => (joined ? `${id} joined` : id));
}

const counted = (bytes: number): Garbage => ({ bytes, counted: 1 });

describe('the segments that compaction looks at', () => {
  it('have more garbage than the setting allows; those with the most come first', () => {
    expect(
      chosen(
        segment('some', counted(26 * MiB)),
        segment('little', counted(25 * MiB)),
        segment('all', counted(100 * MiB)),
        segment('much', counted(60 * MiB)),
      ),
    ).toEqual(['all', 'much', 'some']);
  });

  it('had no write for a minute, and without a mark for an hour', () => {
    const garbage = counted(90 * MiB);
    expect(
      chosen(
        segment('fresh', garbage, { ageMs: 59_000 }),
        segment('active', garbage, { sealed: false, ageMs: 59 * MINUTE }),
        segment('abandoned', garbage, { sealed: false, ageMs: 60 * MINUTE }),
      ),
    ).toEqual(['abandoned']);
  });

  it('were never counted exactly', () => {
    expect(
      chosen(segment('never', undefined), segment('estimated', { bytes: 10 }), segment('counted', counted(10))),
    ).toEqual(['estimated', 'never']);
  });

  it('have garbage that the records have known for long enough', () => {
    const unknown = (since: number): Garbage => ({ bytes: 90 * MiB, counted: 1, unknown: { bytes: 80 * MiB, since } });
    expect(chosen(segment('young', unknown(1)), segment('old', unknown(0)))).toEqual(['old']);
    const small = (name: string) => segment(name, counted(0), { small: true, size: MiB });
    const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(small);
    const kept = { bytes: MiB, counted: 1, unknown: { bytes: MiB, since: 1 } };
    expect(chosen(...seven, segment('h', kept, { small: true, size: MiB }))).toEqual([]);
  });

  it('are joined where many are small', () => {
    const small = (name: string) => segment(name, counted(0), { small: true, size: MiB });
    const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(small);
    expect(chosen(...seven)).toEqual([]);
    const waits = segment('h', undefined, { small: true, size: MiB, ageMs: 0 });
    expect(chosen(...seven, waits)).toEqual([]);
    expect(chosen(...seven, small('h'))).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `${name} joined`),
    );
  });
});

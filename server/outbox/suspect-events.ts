import type { Entry } from '../store/record-store.ts';

type Group = readonly Entry[];

interface Suspect {
  /** Attempts that failed. */
  tries: number;
  /** Attempts that failed alone, just after the target had taken other events. */
  alone: number;
}

interface PlanOptions {
  /** Reports whether an event is held, and tried again. */
  readonly isHeld: (event: Entry) => boolean;
  /** Reports whether nothing of a group can be sent now. */
  readonly isHeldUp: (group: Group) => boolean;
  /** Names what of its object an event concerns, if events of the rest may come first. */
  readonly partOf?: ((event: Entry) => string | undefined) | undefined;
}

/** How the events of a window are sent. */
interface SendingPlan {
  /** Is sent first. Where it fails, the target is away, and nothing else is sent. */
  readonly probe: Group | undefined;
  /** Are sent at the same time. */
  readonly together: readonly Group[];
  /** Are sent after these, on no connection of others: the failure of one says nothing of the others. Held events are the last. */
  readonly alone: readonly Group[];
}

/** Suspects with which a target that is away is asked. With more, the next one replaces the oldest: their number stays small however long it is away. */
const maxProbed = 32;
/** Suspects that are known. */
const maxSuspects = 1_000;
/** Failures alone after which an event is a poison event. */
const maxAlone = 3;

/**
 * The events that were sent when the target failed. One event may be the reason, as where a broker ends the connection for it: it would take all others
 * down with it, again and again. So a target that failed gets one event at first, suspects are sent alone and last, and one that fails each time although
 * others were taken just before is found out.
 */
export class SuspectEvents {
  readonly #suspects = new Map<string, Suspect>();

  /** Plans the attempts of a window. `isAfterFailure`: the target took nothing in the last one. */
  plan(groups: readonly Group[], isAfterFailure: boolean, { isHeld, isHeldUp, partOf }: PlanOptions): SendingPlan {
    const rankOf = (event: Entry) => this.#suspects.get(nameOf(event))?.tries ?? (isHeld(event) ? Infinity : 0);
    const ranked = groups
      .flatMap((group) => {
        const parts = splitParts(group, rankOf, partOf);
        return parts.length === 1 ? parts : parts.filter((part) => !isHeldUp(part));
      })
      // A suspect may follow other events of its object.
      .map((group) => ({ group, rank: group.map(rankOf).find((rank) => rank > 0) ?? 0 }));
    const suspects = ranked
      .filter(({ rank }) => rank > 0)
      .toSorted((a, b) => compareRanks(a.rank, b.rank))
      .map(({ group }) => group);
    const others = ranked.filter(({ rank }) => rank === 0).map(({ group }) => group);
    if (!isAfterFailure) return { probe: undefined, together: others, alone: suspects };
    const probe = this.#probeOf(others, suspects);
    return {
      probe,
      together: others.filter((group) => group !== probe),
      alone: suspects.filter((group) => group !== probe),
    };
  }

  /** Forgets an event that leaves the queue. */
  forget(event: Entry): void {
    this.#suspects.delete(nameOf(event));
  }

  /**
   * Suspects an event that failed. `of-event`: it was sent alone, and the target took others just before; `of-target`: the target took nothing before.
   * Returns whether it is a poison event: the target took others before, between and after its failures. It is no suspect any more then.
   */
  onFailed(event: Entry, failure: 'of-target' | 'of-event' | 'of-either'): boolean {
    const known = this.#suspects.get(nameOf(event));
    const max = failure === 'of-target' ? maxProbed : maxSuspects;
    const [oldest] = this.#suspects.keys();
    if (known === undefined && oldest !== undefined && this.#suspects.size >= max) this.#suspects.delete(oldest);
    const before = known ?? { tries: 0, alone: 0 };
    const suspect = { tries: before.tries + 1, alone: before.alone + Number(failure === 'of-event') };
    if (suspect.alone < maxAlone) this.#suspects.set(nameOf(event), suspect);
    else this.#suspects.delete(nameOf(event));
    return suspect.alone >= maxAlone;
  }

  /**
   * Suspects that all fail do not say that the target is away: with many of them, about each second probe is one of the others, at random. Where there
   * are only suspects and held events, about each second probe is the one that failed most: a held event may be what the target takes.
   */
  #probeOf(others: readonly Group[], suspects: readonly Group[]): Group | undefined {
    const suspect = Math.random() < 0.5 ? suspects[0] : suspects.at(-1);
    if (this.#suspects.size < maxProbed) return others[0] ?? suspect;
    const other = others[Math.floor(Math.random() * others.length)];
    return (Math.random() < 0.5 ? suspects[0] : other) ?? other ?? suspect;
  }
}

/**
 * Puts the parts of an object that have suspects or held events apart, those that failed least first: the others may be taken, and show that the target is
 * well. An event without a part keeps all of its object together.
 */
function splitParts(group: Group, rankOf: (event: Entry) => number, partOf: PlanOptions['partOf']): readonly Group[] {
  if (partOf === undefined || group.length === 1 || group.every((event) => rankOf(event) === 0)) return [group];
  const ranks = new Map<string, number>();
  for (const event of group) {
    const part = partOf(event);
    if (part === undefined) return [group];
    ranks.set(part, Math.max(ranks.get(part) ?? 0, rankOf(event)));
  }
  const rankOfPart = (event: Entry) => ranks.get(partOf(event) ?? '') ?? 0;
  const apart = group
    .filter((event) => rankOfPart(event) > 0)
    .toSorted((a, b) => compareRanks(rankOfPart(a), rankOfPart(b)));
  const others = group.filter((event) => rankOfPart(event) === 0);
  return others.length === 0 ? [apart] : [others, apart];
}

/** Two infinite ranks have no difference. */
function compareRanks(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function nameOf({ key }: Pick<Entry, 'key'>): string {
  return key.toString('latin1');
}

import type { Entry } from '../store/record-store.ts';

type Group = readonly Entry[];

interface Suspect {
  /** Attempts that failed. */
  tries: number;
  /** Attempts that failed alone, just after the target had taken other events. */
  alone: number;
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

/** Suspects with which a target that is away is asked. With more, a failed probe makes none: their number stays small however long it is away. */
const maxProbed = 32;
/** Suspects that are known. Beyond them a failure makes none. */
const maxSuspects = 1_000;
/** Failures alone after which an event is to blame, and not its target. */
const maxAlone = 3;

/**
 * The events that were sent when the target failed. One event may be the reason, as where a broker ends the connection for it: it would take all others
 * down with it, again and again. So a target that failed gets one event at first, suspects are sent alone and last, and one that fails each time although
 * others were taken just before is found out.
 */
export class SuspectEvents {
  readonly #suspects = new Map<string, Suspect>();

  /** Plans the attempts of a window. `isAfterFailure`: the target took nothing in the last one. `isHeld`: an event is held, and tried again. */
  plan(groups: readonly Group[], isAfterFailure: boolean, isHeld: (event: Entry) => boolean): SendingPlan {
    const rated = groups.map((group) => ({
      group,
      tries: this.#of(group)?.tries ?? (group.some(isHeld) ? Infinity : 0),
    }));
    const suspects = rated
      .filter(({ tries }) => tries > 0)
      // Two infinite counts have no difference.
      .toSorted((a, b) => (a.tries === b.tries ? 0 : a.tries - b.tries))
      .map(({ group }) => group);
    const others = rated.filter(({ tries }) => tries === 0).map(({ group }) => group);
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
   * Returns whether the event is to blame: the target took others before, between and after its failures. It is no suspect any more then.
   */
  onFailed(event: Entry, failure: 'of-target' | 'of-event' | 'of-either'): boolean {
    const known = this.#suspects.get(nameOf(event));
    const max = failure === 'of-target' ? maxProbed : maxSuspects;
    if (known === undefined && this.#suspects.size >= max) return false;
    const before = known ?? { tries: 0, alone: 0 };
    const suspect = { tries: before.tries + 1, alone: before.alone + Number(failure === 'of-event') };
    if (suspect.alone < maxAlone) this.#suspects.set(nameOf(event), suspect);
    else this.#suspects.delete(nameOf(event));
    return suspect.alone >= maxAlone;
  }

  /** Suspects that all fail do not say that the target is away: with many of them, about each second probe is one of the others, at random. */
  #probeOf(others: readonly Group[], suspects: readonly Group[]): Group | undefined {
    if (this.#suspects.size < maxProbed) return others[0] ?? suspects[0];
    const other = others[Math.floor(Math.random() * others.length)];
    return (Math.random() < 0.5 ? suspects[0] : other) ?? other ?? suspects[0];
  }

  /** A suspect may follow a held event of its object. */
  #of(group: Group): Suspect | undefined {
    if (this.#suspects.size === 0) return undefined;
    return group.map((event) => this.#suspects.get(nameOf(event))).find((suspect) => suspect !== undefined);
  }
}

function nameOf({ key }: Pick<Entry, 'key'>): string {
  return key.toString('latin1');
}

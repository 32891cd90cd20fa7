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
  /** Are sent after these, one after the other: the failure of one says nothing of the others. */
  readonly alone: readonly Group[];
}

/** Suspects among which a target that is away is asked. So their number stays small however long it is away. */
const maxProbed = 32;
/** Failures alone after which an event is to blame, and not its target. */
const maxAlone = 3;

/**
 * The events that were sent when the target failed. One event may be the reason, as where a broker ends the connection for it: it would take all others
 * down with it, again and again. So a target that failed gets one event at first, suspects are sent alone and last, and one that fails each time although
 * others were taken just before is found out.
 */
export class SuspectEvents {
  readonly #suspects = new Map<string, Suspect>();

  /** Plans the attempts of a window. `isAfterFailure`: the target took nothing in the last one. */
  plan(groups: readonly Group[], isAfterFailure: boolean): SendingPlan {
    const suspects = groups
      .map((group) => ({ group, tries: this.#of(group)?.tries }))
      .filter((one): one is { group: Group; tries: number } => one.tries !== undefined)
      .toSorted((a, b) => a.tries - b.tries)
      .map(({ group }) => group);
    const others = suspects.length === 0 ? groups : groups.filter((group) => this.#of(group) === undefined);
    if (!isAfterFailure) return { probe: undefined, together: others, alone: suspects };
    const probe = suspects.length < maxProbed ? (others[0] ?? suspects[0]) : suspects[0];
    return {
      probe,
      together: others.filter((group) => group !== probe),
      alone: suspects.filter((group) => group !== probe),
    };
  }

  onAccepted(event: Entry): void {
    this.#suspects.delete(nameOf(event));
  }

  /** Suspects an event. `isAlone`: it was sent alone, and the target took others just before. Returns whether it is to blame. */
  onFailed(event: Entry, isAlone: boolean): boolean {
    const before = this.#suspects.get(nameOf(event)) ?? { tries: 0, alone: 0 };
    const suspect = { tries: before.tries + 1, alone: before.alone + Number(isAlone) };
    this.#suspects.set(nameOf(event), suspect);
    return suspect.alone >= maxAlone;
  }

  #of(group: Group): Suspect | undefined {
    const [head] = group;
    return head && this.#suspects.get(nameOf(head));
  }
}

function nameOf({ key }: Entry): string {
  return key.toString('latin1');
}

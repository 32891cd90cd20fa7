import { type Content, DELETE_MARKER, IN_DOUBT, type Move, versionName, type Witness } from '../crash/expected.ts';

interface ChangeOfKey {
  readonly content: Content;
  /** How long the recording was when the request went out. */
  readonly begun: number;
  /** How long it was when the answer had come: whatever made it durable is recorded before. */
  answered: number | undefined;
}

export interface Sighting {
  readonly key: string;
  readonly content: Content;
  /** How long the recording was when the reader asked for it. */
  readonly asked: number;
  /** How long it was when the reader had it. */
  readonly seen: number;
}

/** What clients did and saw, against the length of the recording: which states of each key a power cut may leave. */
export class History implements Witness {
  readonly #length: () => number;
  readonly #changes = new Map<string, ChangeOfKey[]>();
  readonly #moves: Move[] = [];
  readonly sightings: Sighting[] = [];

  constructor(length: () => number) {
    this.#length = length;
  }

  begin(key: string, content: Content): void {
    const changes = this.#changes.get(key) ?? [];
    changes.push({ content, begun: this.#length(), answered: undefined });
    this.#changes.set(key, changes);
  }

  beginMove(move: Move): void {
    this.#moves.push(move);
    this.begin(move.from, undefined);
    this.begin(move.to, move.content);
  }

  /** The renames that a power cut can have met: begun, not answered, and the last change of both names until then. */
  movesAt(cut: number): readonly Move[] {
    const lastAt = (key: string) => this.#changes.get(key)?.findLast(({ begun }) => begun <= cut);
    return this.#moves.filter(({ from, to, content }) => {
      const changes = [lastAt(from), lastAt(to)];
      const isLast = changes[0]?.content === undefined && changes[1]?.content === content;
      const isOpen = changes.every((last) => last !== undefined && (last.answered ?? Infinity) > cut);
      return isLast && isOpen && !this.allowed(to, cut).slice(0, -1).includes(content);
    });
  }

  acknowledge(key: string, versionId?: string): void {
    const last = this.#changes.get(key)?.at(-1);
    if (last === undefined) return;
    last.answered = this.#length();
    if (versionId === undefined) return;
    // The version exists from the moment its content can be current.
    this.#changes.set(versionName(key, versionId), [{ ...last, content: last.content ?? DELETE_MARKER }]);
  }

  refuse(key: string): void {
    const changes = this.#changes.get(key);
    // A refusal may also come before the change was asked for, of an upload's part for example.
    if (changes?.at(-1)?.answered === undefined) changes?.pop();
  }

  known(name: string): Content | typeof IN_DOUBT {
    const last = this.#changes.get(name)?.at(-1);
    return last !== undefined && last.answered === undefined ? IN_DOUBT : last?.content;
  }

  sight(sighting: Sighting): void {
    this.sightings.push(sighting);
  }

  /** What readers saw before the writer had its answer: the moments at which something not yet durable could have been shown. */
  get earlySightings(): readonly Sighting[] {
    return this.sightings.filter(({ key, content, seen }) =>
      this.#changes.get(key)?.some((change) => change.content === content && (change.answered ?? Infinity) > seen),
    );
  }

  get names(): readonly string[] {
    return [...this.#changes.keys()];
  }

  /** Keys that a writer waits for: where a reader would see what is not durable, if any did. */
  get keysOnTheirWay(): readonly string[] {
    return this.names.filter((key) => this.#changes.get(key)?.at(-1)?.answered === undefined);
  }

  /** The moments right after an answer, the worst for a power cut. */
  get answers(): readonly number[] {
    return [...this.#changes.values()]
      .flat()
      .flatMap(({ answered }) => (answered === undefined ? [] : [answered]))
      .toSorted((left, right) => left - right);
  }

  hasUnanswered(name: string): boolean {
    return this.#changes.get(name)?.some(({ answered }) => answered === undefined) ?? false;
  }

  /** True where a write of this content had begun and was never answered: it can have left a version with an unknown id. */
  mayHaveCreated(key: string, content: string, cut: number): boolean {
    const changes = this.#changes.get(key) ?? [];
    return changes.some(
      (change) => change.answered === undefined && change.begun <= cut && (change.content ?? DELETE_MARKER) === content,
    );
  }

  /** What a key may be after a power cut when the recording was this long. */
  allowed(key: string, cut: number): readonly Content[] {
    const changes = (this.#changes.get(key) ?? []).filter((change) => change.begun <= cut);
    const last = changes.findLastIndex(({ answered }) => answered !== undefined && answered <= cut);
    const later = changes.slice(last + 1).map(({ content }) => content);
    return [last === -1 ? undefined : changes[last]?.content, ...later];
  }

  /**
   * What a key may be after a power cut at the moment a reader had seen it: that content, or one of a change begun later. A rename or a copy
   * may give a key a content again: the reader may have seen the earlier one, where that was still there when it asked.
   */
  allowedAfterSighting({ key, content, asked, seen }: Sighting): readonly Content[] {
    const changes = (this.#changes.get(key) ?? []).filter((change) => change.begun <= seen);
    const isSeen = (at: number) => changes[at]?.content === content && (changes[at + 1]?.answered ?? Infinity) > asked;
    const first = changes.findIndex((_, at) => isSeen(at));
    return [content, ...changes.slice(first + 1).map((change) => change.content)];
  }
}

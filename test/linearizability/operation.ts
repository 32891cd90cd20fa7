/** What a key holds: the name of a value, each written once in a history, or nothing. */
export type State = string | undefined;

/** What a client asked one key for, and what it was told. */
export type Action =
  | { readonly kind: 'get'; readonly shown: State }
  | { readonly kind: 'put'; readonly value: string; readonly condition: Condition; readonly answer: Answer }
  | { readonly kind: 'delete'; readonly answer: 'done' | 'unknown' };

export type Condition =
  | { readonly kind: 'none' }
  /** If-None-Match: *. */
  | { readonly kind: 'absent' }
  /** If-Match: what holds this value. */
  | { readonly kind: 'holds'; readonly value: string };

/** `refused` says that the condition did not hold; `unknown`, that it may have been done, or be done yet. */
export type Answer = 'done' | 'refused' | 'unknown';

/** One call: `called` and `answered` are places in one order of everything that the clients saw. */
export interface Operation {
  readonly client: number;
  readonly key: string;
  readonly called: number;
  readonly answered: number;
  readonly action: Action;
}

/** What the key holds after the action took effect in this state; `impossible` when it cannot have had this answer there. */
export function effect(action: Action, state: State): { readonly state: State } | 'impossible' {
  switch (action.kind) {
    case 'get':
      return action.shown === state ? { state } : 'impossible';
    case 'delete':
      return { state: undefined };
    case 'put': {
      const holds = conditionHolds(action.condition, state);
      if (action.answer === 'refused') return holds ? 'impossible' : { state };
      // Of an unknown one only the effect matters: without any it may as well not have been.
      return holds ? { state: action.value } : 'impossible';
    }
    default:
      return action satisfies never;
  }
}

/** Whether it changes nothing wherever it is possible: a read, or a refusal. */
export function onlyLooks(action: Action): boolean {
  return action.kind === 'get' || (action.kind === 'put' && action.answer === 'refused');
}

export function isUnknown(action: Action): boolean {
  return action.kind !== 'get' && action.answer === 'unknown';
}

function conditionHolds(condition: Condition, state: State): boolean {
  switch (condition.kind) {
    case 'none':
      return true;
    case 'absent':
      return state === undefined;
    case 'holds':
      return state === condition.value;
    default:
      return condition satisfies never;
  }
}

/** What clients work on. A call that breaks off or meets a server in trouble is `unknown`: it may have been done, or be done yet. */
export interface Register {
  /** False where a write has no conditions: all are unconditional. */
  readonly conditional?: boolean;
  get(key: string): Promise<{ readonly shown: State } | 'unknown'>;
  put(key: string, value: string, condition: Condition): Promise<Answer>;
  delete(key: string): Promise<'done' | 'unknown'>;
}

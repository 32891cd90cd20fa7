/** The commands of the program itself whose messages only say what was done. */
const ofObjects = new Set(['mb', 'rb', 'cp', 'mv', 'mirror', 'get', 'put', 'pipe', 'rm', 'undo', 'logout', 'update']);

/** The same of groups, by their last words. */
const verbs = new Set([
  'set',
  'set-json',
  'clear',
  'add',
  'edit',
  'update',
  'import',
  'remove',
  'attach',
  'detach',
  'enable',
  'disable',
  'suspend',
  'restart',
  'stop',
  'freeze',
  'unfreeze',
  'reset',
  'restore',
  'rotate',
  'cancel',
  'sts-revoke',
]);

/** Commands with such a verb that print more: a secret key, or what could not be imported. */
const exceptions = new Set(['admin user svcacct add', 'admin cluster iam import', 'admin cluster bucket import']);

const more = new Set([
  'admin policy create',
  'admin kms key create',
  'admin events retry',
  'admin events drop',
  'replicate resync start',
  'replicate resync cancel',
  'admin replicate resync start',
]);

/** Reports whether the messages of a command only say what it did, so that `--quiet` leaves them out. `path` is for example `tag set`. */
export function isQuietable(path: string): boolean {
  const words = path.split(' ');
  if (words.length === 1) return ofObjects.has(path);
  return more.has(path) || (verbs.has(words.at(-1) ?? '') && !exceptions.has(path));
}

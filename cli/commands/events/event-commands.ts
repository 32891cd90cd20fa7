import { laterGroups, type CommandGroup, type OptionDefinition } from '../command-group.ts';

const eventOption: OptionDefinition = ['--event <names>', 'put, delete, get, replica, ilm, scanner (put,delete,get)'];
const prefixOption: OptionDefinition = ['--prefix <prefix>', 'of keys that begin with it'];
const suffixOption: OptionDefinition = ['--suffix <suffix>', 'of keys that end with it'];

/** Adds the commands for the events of buckets. */
export function addEventCommands(commands: CommandGroup): void {
  const event = commands.group('event', laterGroups.event).from(() => import('./events.ts'));
  event.add('add <target> <arn>', {
    description: 'send events of a bucket to a destination of the server',
    options: [
      eventOption,
      prefixOption,
      suffixOption,
      ['-p, --ignore-existing', 'succeed when there is such a rule already'],
    ],
    examples: ['mine/photos arn:minio:sqs::primary:webhook --event put --suffix .jpg'],
    doing: 'add events to',
    subject: 0,
    run: (module) => module.addEvent,
  });
  event.add('list <target> [arn]', {
    alias: 'ls',
    description: 'show which events go where',
    examples: ['mine/photos'],
    doing: 'list the events of',
    subject: 0,
    run: (module) => module.listEvents,
  });
  event.add('remove <target> [arn]', {
    alias: 'rm',
    description: 'send no more events to a destination',
    options: [['--force', 'all rules of the bucket'], eventOption, prefixOption, suffixOption],
    examples: ['mine/photos arn:minio:sqs::primary:webhook', ['mine/photos --force', 'all rules']],
    doing: 'remove events of',
    subject: 0,
    run: (module) => module.removeEvent,
  });
}

/** Adds `watch`, which is not a group. */
export function addWatch(commands: CommandGroup): void {
  commands
    .from(() => import('./watch.ts'))
    .add('watch <target>', {
      description: 'show changes of a server, bucket or local folder as they happen, until Ctrl-C',
      options: [
        ['--events <names>', 'put, delete, get, …, bucket-creation, bucket-removal (put,delete,get)'],
        prefixOption,
        suffixOption,
        ['--recursive', 'also below the folders of a local folder'],
      ],
      examples: [
        'mine/photos --suffix .jpg',
        ['mine --events bucket-creation,bucket-removal', 'new and removed buckets'],
        './inbox',
      ],
      doing: 'watch',
      run: (module) => module.watch,
    });
}

import { Autocomplete, Checkbox, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useBuckets } from '../api/buckets.ts';
import { objectsChanged } from '../api/changes.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { jobs } from '../jobs/jobs.ts';
import { transferProblem, type Selection } from '../jobs/selection.ts';
import { runTransfer, type Transfer } from '../jobs/transfer.ts';

interface MoveDialogProps {
  readonly kind: 'rename' | 'move' | 'copy';
  readonly bucket: string;
  readonly prefix: string;
  readonly selection: Selection;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const verbs = { rename: 'Rename', move: 'Move', copy: 'Copy' } as const;

/** Renames, moves or copies objects and folders. The server copies; the progress is in the corner of the page. */
export function MoveDialog({ kind, bucket, prefix, selection, onDone, onClose }: MoveDialogProps) {
  const [only] = [...selection.objects.map(({ key }) => key), ...selection.folders];
  const count = selection.objects.length + selection.folders.length;
  const oldName = nameOf(only ?? '');
  const [name, setName] = useState(oldName);
  const [target, setTarget] = useState(bucket);
  const [folder, setFolder] = useState(prefix);
  const [replace, setReplace] = useState(false);
  const [tried, setTried] = useState(false);
  const buckets = useBuckets('').data ?? [];
  const rename = count === 1 && name !== oldName ? name : undefined;
  const to = { bucket: target, prefix: folder };
  const problem = transferProblem(selection, bucket, to, rename);
  const what = count === 1 ? oldName : `${count} entries`;

  function start(): void {
    setTried(true);
    if (problem !== undefined) return;
    onClose();
    onDone();
    void transfer({ bucket, selection, target: to, rename, move: kind !== 'copy', replace }, `${verbs[kind]} ${what}`);
  }

  return (
    <FormDialog
      title={`${verbs[kind]} ${what}`}
      submit={verbs[kind]}
      pending={false}
      error={tried && problem !== undefined ? new Error(problem) : null}
      onSubmit={start}
      onClose={onClose}
    >
      {kind !== 'rename' && (
        <>
          <Autocomplete
            label="Bucket"
            data={buckets.map((one) => one.name)}
            value={target}
            onChange={setTarget}
            required
            withAsterisk={false}
          />
          <TextInput
            label="Folder"
            description="It ends in a slash. Empty is the top of the bucket."
            data-autofocus
            spellCheck={false}
            value={folder}
            onChange={(event) => setFolder(event.currentTarget.value)}
          />
        </>
      )}
      {count === 1 && (
        <TextInput
          label="Name"
          data-autofocus={kind === 'rename' || undefined}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <Checkbox
        label="Replace objects that are there already"
        checked={replace}
        onChange={(event) => setReplace(event.currentTarget.checked)}
      />
      {selection.folders.length > 0 && (
        <Text size="sm" c="dimmed">
          Folders go with everything in them, object by object. Leave this window open until it is done.
        </Text>
      )}
    </FormDialog>
  );
}

async function transfer(work: Transfer, title: string): Promise<void> {
  const job = await jobs.run(title, (context) => runTransfer(work, context));
  objectsChanged(work.bucket);
  if (work.target.bucket !== work.bucket) objectsChanged(work.target.bucket);
  if (job?.failures === 0 && job.state === 'done') notifyDone(`${title}: done.`);
}

function nameOf(key: string): string {
  const whole = key.endsWith('/') ? key.slice(0, -1) : key;
  return whole.slice(whole.lastIndexOf('/') + 1);
}

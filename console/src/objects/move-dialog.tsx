import { Autocomplete, Checkbox, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { nameOf, transferIssue } from '../../../protocol/console/transfer-target.ts';
import { useBuckets } from '../api/buckets.ts';
import { useStartTransfer } from '../api/transfers.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import type { Selection } from '../jobs/selection.ts';
import { shorten } from '../text/names.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface MoveDialogProps {
  readonly kind: 'rename' | 'move' | 'copy';
  readonly bucket: string;
  readonly prefix: string;
  readonly selection: Selection;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const verbs = { rename: t.objects.rename, move: t.objects.moveTitle, copy: t.objects.copyTitle } as const;

/** Renames, moves or copies objects and folders. The server does it in the background; the progress is in the corner of the page. */
export function MoveDialog({ kind, bucket, prefix, selection, onDone, onClose }: MoveDialogProps) {
  const [only] = [...selection.objects.map(({ key }) => key), ...selection.folders];
  const count = selection.objects.length + selection.folders.length;
  const oldName = nameOf(only ?? '');
  const [name, setName] = useDraft('move.name', oldName);
  const [target, setTarget] = useDraft('move.bucket', bucket);
  const [folder, setFolder] = useDraft('move.folder', prefix);
  const [replace, setReplace] = useDraft('move.replace', false);
  const [tried, setTried] = useState(false);
  const begin = useStartTransfer();
  const buckets = useBuckets('').data ?? [];
  const rename = count === 1 && name !== oldName ? name : undefined;
  const form = {
    kind,
    bucket,
    objects: selection.objects.map(({ key }) => key),
    folders: selection.folders,
    target: { bucket: target, prefix: folder },
    ...(rename !== undefined && { rename }),
    replace,
  };
  const issue = transferIssue(form);
  const what = count === 1 ? shorten(oldName) : say(t.objects.entries, { count });

  function start(): void {
    setTried(true);
    if (issue !== undefined) return;
    begin.mutate(form, {
      onSuccess: () => {
        onClose();
        onDone();
      },
    });
  }

  return (
    <FormDialog
      title={`${verbs[kind]} ${what}`}
      submit={verbs[kind]}
      pending={begin.isPending}
      error={tried && issue !== undefined ? new Error(issue) : begin.error}
      onSubmit={start}
      onClose={onClose}
    >
      {kind !== 'rename' && (
        <>
          <Autocomplete
            label={t.labels.bucket}
            data={buckets.map((one) => one.name)}
            value={target}
            onChange={setTarget}
            required
            withAsterisk={false}
          />
          <TextInput
            label={t.objects.folder}
            description={t.objects.itEndsInASlashEmptyIs}
            data-autofocus
            spellCheck={false}
            value={folder}
            onChange={(event) => setFolder(event.currentTarget.value)}
          />
        </>
      )}
      {count === 1 && (
        <TextInput
          label={t.labels.name}
          data-autofocus={kind === 'rename' || undefined}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <Checkbox
        label={t.objects.replaceObjectsThatAreThereAlready}
        checked={replace}
        onChange={(event) => setReplace(event.currentTarget.checked)}
      />
      {selection.folders.length > 0 && (
        <Text size="sm" c="dimmed">
          {t.objects.foldersGoWithEverythingInThemObject}
        </Text>
      )}
    </FormDialog>
  );
}

import { Button, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';
import { Verify } from './verify.tsx';

interface Snapshot {
  readonly path: string;
}

/** Verification, snapshots and the read-only mode. */
export function StoreSection() {
  const { may } = useRights();
  if (!may('admin:VerifyStore') && !may('admin:SnapshotStore') && !may('admin:SetReadOnly')) return null;
  return (
    <Section title={t.work.store}>
      <Stack gap="lg">
        {may('admin:SetReadOnly') && <ReadOnly />}
        {may('admin:VerifyStore') && <Verify />}
        {may('admin:SnapshotStore') && <TakeSnapshot />}
      </Stack>
    </Section>
  );
}

function ReadOnly() {
  const state = useQuery({
    queryKey: ['read-only'],
    queryFn: () => admin<{ readonly readOnly: boolean }>('GET', 'coffer/read-only'),
  });
  const change = useApiMutation(
    (on: boolean) => admin('POST', 'coffer/read-only', { query: { mode: on ? 'on' : 'off' } }),
    ['read-only', 'health'],
  );
  return (
    <Loaded what={t.work.whetherItIsReadOnlyCannotBeShown} query={state} loading={<LoadingRows lines={2} />}>
      {({ readOnly }) => (
        <Switch
          label={t.work.readOnly}
          description={t.work.readsGoOnAndEveryChangeIs}
          checked={readOnly}
          disabled={change.isPending}
          onChange={(event) =>
            change.mutate(event.currentTarget.checked, {
              onError: (error) => notifyFailure(t.work.theStoreStaysAsItWas, error),
            })
          }
        />
      )}
    </Loaded>
  );
}

function TakeSnapshot() {
  const [open, setOpen] = useDraft('snapshot', false);
  const [name, setName] = useDraft('snapshot.name', '');
  const take = useApiMutation(() => admin<Snapshot>('POST', 'coffer/snapshot', { query: { name } }), []);
  return (
    <div>
      <Button
        variant="default"
        onClick={() => {
          setName(`console-${new Date().toISOString().slice(0, 19).replaceAll(/[:T]/g, '-')}`);
          setOpen(true);
        }}
      >
        {t.work.takeASnapshot}
      </Button>
      {open && (
        <FormDialog
          title={t.work.takeASnapshotTitle}
          submit={t.work.takeTheSnapshot}
          pending={take.isPending}
          error={take.error}
          onClose={() => setOpen(false)}
          onSubmit={() =>
            take.mutate(undefined, {
              onSuccess: ({ path }) => {
                setOpen(false);
                notifyDone(say(t.work.theSnapshotIsIn, { path }));
              },
            })
          }
        >
          <Text size="sm">{t.work.recordsAndBodiesAsOfOneMoment}</Text>
          <TextInput
            label={t.labels.name}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
          />
        </FormDialog>
      )}
    </div>
  );
}

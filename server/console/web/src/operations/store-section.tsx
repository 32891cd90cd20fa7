import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Section } from '../components/detail-page.tsx';
import { Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { RowTable } from '../components/row-table.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { formatCount } from '../text/format.ts';
import { useDraft } from '../components/use-draft.ts';

interface Verification {
  readonly findings: readonly { readonly kind?: string; readonly [field: string]: unknown }[];
  readonly more: boolean;
  readonly summary: Readonly<Record<string, unknown>>;
}

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
    <Switch
      label={t.work.readOnly}
      description={t.work.readsGoOnAndEveryChangeIs}
      checked={state.data?.readOnly ?? false}
      disabled={!state.isSuccess || change.isPending}
      onChange={(event) =>
        change.mutate(event.currentTarget.checked, {
          onError: (error) => notifyFailure(t.work.theStoreStaysAsItWas, error),
        })
      }
    />
  );
}

function Verify() {
  const [bodies, setBodies] = useState(false);
  const verify = useApiMutation(
    () => admin<Verification>('POST', 'coffer/verify', { query: { bodies: String(bodies) } }),
    [],
  );
  const { data } = verify;
  return (
    <Stack gap="xs" align="flex-start">
      <Group gap="md">
        <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
          {t.work.verifyTheStore}
        </Button>
        <Switch
          label={t.work.bodiesTooWhichReadsEverything}
          checked={bodies}
          onChange={(event) => setBodies(event.currentTarget.checked)}
        />
      </Group>
      {verify.isError && <Failure what={t.work.theStoreWasNotVerified} error={verify.error} />}
      {data !== undefined && (
        <Text size="sm" role="status">
          {data.findings.length === 0
            ? t.work.nothingIsWrong
            : data.more
              ? say(t.work.findings, { findings: data.findings.length })
              : say(t.work.findingsFindings, { findings: data.findings.length })}{' '}
          {Object.entries(data.summary)
            .filter(([, value]) => typeof value === 'number' && value > 0)
            .map(([name, value]) => `${name}: ${formatCount(Number(value))}`)
            .join(', ')}
        </Text>
      )}
      {data !== undefined && data.findings.length > 0 && (
        <RowTable
          rows={data.findings.slice(0, 100)}
          rowKey={(finding) => JSON.stringify(finding)}
          columns={[
            { head: t.labels.kind, width: 180, cell: ({ kind }) => kind },
            { head: t.work.finding, cell: (finding) => <span className="mono">{JSON.stringify(finding)}</span> },
          ]}
        />
      )}
    </Stack>
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

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
    <Section title="Store">
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
      label="Read-only"
      description="Reads go on, and every change is refused, on all servers. For a copy or a move of the data."
      checked={state.data?.readOnly ?? false}
      disabled={!state.isSuccess || change.isPending}
      onChange={(event) =>
        change.mutate(event.currentTarget.checked, {
          onError: (error) => notifyFailure('The store stays as it was', error),
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
          Verify the store
        </Button>
        <Switch
          label="Bodies too, which reads everything"
          checked={bodies}
          onChange={(event) => setBodies(event.currentTarget.checked)}
        />
      </Group>
      {verify.isError && <Failure what="The store was not verified" error={verify.error} />}
      {data !== undefined && (
        <Text size="sm" role="status">
          {data.findings.length === 0
            ? 'Nothing is wrong. '
            : `${data.findings.length}${data.more ? '+' : ''} findings. `}
          {Object.entries(data.summary)
            .filter(([, value]) => typeof value === 'number' && value > 0)
            .map(([name, value]) => `${name}: ${Number(value).toLocaleString()}`)
            .join(', ')}
        </Text>
      )}
      {data !== undefined && data.findings.length > 0 && (
        <RowTable
          rows={data.findings.slice(0, 100)}
          rowKey={(finding) => JSON.stringify(finding)}
          columns={[
            { head: 'Kind', width: 180, cell: ({ kind }) => kind },
            { head: 'Finding', cell: (finding) => <span className="mono">{JSON.stringify(finding)}</span> },
          ]}
        />
      )}
    </Stack>
  );
}

function TakeSnapshot() {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
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
        Take a snapshot…
      </Button>
      {open && (
        <FormDialog
          title="Take a snapshot"
          submit="Take the snapshot"
          pending={take.isPending}
          error={take.error}
          onClose={() => setOpen(false)}
          onSubmit={() =>
            take.mutate(undefined, {
              onSuccess: ({ path }) => {
                setOpen(false);
                notifyDone(`The snapshot is in ${path}.`);
              },
            })
          }
        >
          <Text size="sm">
            Records and bodies as of one moment, below the data folder. Bodies are linked, not copied.
          </Text>
          <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} required />
        </FormDialog>
      )}
    </div>
  );
}

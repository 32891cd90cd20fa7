import { Button, Code, Stack, Tabs, Text } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { PolicyAnswer } from '../../../contract/identity-answers.ts';
import { Statements } from '../account/statements.tsx';
import { useDeletePolicy, usePolicy } from '../api/policies.ts';
import { useRights } from '../api/rights.ts';
import { DetailHead } from '../shell/detail-head.tsx';
import { Loaded } from '../shell/loaded.tsx';
import { RemoveDialog } from '../shell/remove-dialog.tsx';
import { EarlierVersions } from './earlier-versions.tsx';
import { EditPolicy } from './edit-policy.tsx';
import { Holders } from './holders.tsx';
import { KindBadge } from './policies-page.tsx';

export function PolicyPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const policy = usePolicy(name);
  return (
    <Loaded name={name} query={policy}>
      {(found) => <Details key={name} policy={found} />}
    </Loaded>
  );
}

/** Begun with what is saved, or with an earlier form of it. */
type Editing = { readonly document: string; readonly expects: string | null };

function Details({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const [editing, setEditing] = useState<Editing>();
  const [deleting, setDeleting] = useState(false);
  const edit = (document: string) => setEditing({ document, expects: policy.updatedAt ?? null });
  if (editing !== undefined) {
    return <EditPolicy name={policy.name} {...editing} onDone={() => setEditing(undefined)} />;
  }
  return (
    <Stack gap="md" maw={960}>
      <DetailHead
        parent={{ name: 'Policies', to: '/policies' }}
        name={policy.name}
        badge={<KindBadge kind={policy.kind} />}
        actions={
          <>
            {may('admin:CreatePolicy') && (
              <Button leftSection={<IconPencil size={16} />} onClick={() => edit(policy.document)}>
                Edit
              </Button>
            )}
            {may('admin:DeletePolicy') && policy.kind !== 'built-in' && (
              <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => setDeleting(true)}>
                Delete…
              </Button>
            )}
          </>
        }
      />
      <Tabs defaultValue="says">
        <Tabs.List mb="md">
          <Tabs.Tab value="says">What it says</Tabs.Tab>
          <Tabs.Tab value="document">Document</Tabs.Tab>
          <Tabs.Tab value="holders">Attached to ({policy.holders.length})</Tabs.Tab>
          <Tabs.Tab value="earlier">Earlier versions ({policy.earlier.length})</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="says">
          {policy.content.length === 0 ? (
            <Text size="sm">It has no statement, so it allows nothing.</Text>
          ) : (
            <Statements statements={policy.content} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="document">
          <Code block tabIndex={0} aria-label={`Document of ${policy.name}`}>
            {policy.document}
          </Code>
        </Tabs.Panel>
        <Tabs.Panel value="holders">
          <Holders policy={policy} />
        </Tabs.Panel>
        <Tabs.Panel value="earlier">
          <EarlierVersions policy={policy} {...(may('admin:CreatePolicy') ? { onRestore: edit } : {})} />
        </Tabs.Panel>
      </Tabs>
      {deleting && <DeletePolicyDialog policy={policy} onClose={() => setDeleting(false)} />}
    </Stack>
  );
}

function DeletePolicyDialog({ policy, onClose }: { readonly policy: PolicyAnswer; readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <RemoveDialog
      title={`Delete the policy ${policy.name}?`}
      submit="Delete policy"
      remove={useDeletePolicy()}
      what={policy.name}
      done={`${policy.name} is deleted.`}
      onDone={() => void navigate('/policies')}
      onClose={onClose}
    >
      {policy.kind === 'replaced'
        ? 'The built-in policy of this name takes its place, for all who have it. Earlier versions go too.'
        : 'It is refused while the policy is attached to anybody. Earlier versions go too.'}
    </RemoveDialog>
  );
}

import { Button, Code, Stack, Tabs, Text, Group, Accordion } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState, type SubmitEvent } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { DeleteButton } from '../components/edit-buttons.tsx';
import type { PolicyAnswer } from '../../../protocol/console/identity-answers.ts';
import { Statements } from './statements.tsx';
import { useDeletePolicy, usePolicy, useSavePolicy } from '../api/policies.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, LoadedPage } from '../components/detail-page.tsx';
import { RemoveDialog, FormError } from '../components/form-dialog.tsx';
import { Holders } from './policy-holders.tsx';
import { KindBadge } from './policies-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { policyUrl } from '../components/urls.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { formatExactTime, formatTime } from '../text/format.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

const parent = { name: t.labels.policies, to: '/policies' };

export function PolicyPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const policy = usePolicy(name);
  return (
    <LoadedPage title={name} parent={parent} what={say(t.labels.cannotBeShown, { name })} query={policy}>
      {(found) => <PolicyDetails key={name} policy={found} />}
    </LoadedPage>
  );
}

/** The document that the editor starts with: the saved one, or an earlier version. */
type Editing = { readonly document: string; readonly expects: string | null };

function PolicyDetails({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const [editing, setEditing] = useDraft<Editing | undefined>('editing', undefined);
  const [deleting, setDeleting] = useState(false);
  const edit = (document: string) => setEditing({ document, expects: policy.updatedAt ?? null });
  if (editing !== undefined) {
    return <EditPolicy name={policy.name} saved={policy.document} {...editing} onDone={() => setEditing(undefined)} />;
  }
  return (
    <DetailPage
      parent={parent}
      title={policy.name}
      badge={<KindBadge kind={policy.kind} />}
      actions={
        <>
          {may('admin:CreatePolicy') && (
            <Button leftSection={<IconPencil size={16} />} onClick={() => edit(policy.document)}>
              {t.labels.edit}
            </Button>
          )}
          {may('admin:DeletePolicy') && policy.kind !== 'built-in' && (
            <DeleteButton label={t.labels.delete} onClick={() => setDeleting(true)} />
          )}
        </>
      }
    >
      <Tabs defaultValue="says">
        <Tabs.List mb="md">
          <Tabs.Tab value="says">{t.policies.whatItSays}</Tabs.Tab>
          <Tabs.Tab value="document">{t.policies.document}</Tabs.Tab>
          <Tabs.Tab value="holders">{say(t.policies.attachedTo, { holders: policy.holders.length })}</Tabs.Tab>
          <Tabs.Tab value="earlier">{say(t.policies.earlierVersions, { earlier: policy.earlier.length })}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="says">
          {policy.content.length === 0 ? (
            <Text size="sm">{t.policies.itHasNoStatementSoItAllows}</Text>
          ) : (
            <Statements statements={policy.content} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="document">
          <Code block tabIndex={0} aria-label={say(t.policies.documentOf, { name: policy.name })}>
            {policy.document}
          </Code>
        </Tabs.Panel>
        <Tabs.Panel value="holders">
          <Holders policy={policy} />
        </Tabs.Panel>
        <Tabs.Panel value="earlier">
          <EarlierVersions policy={policy} onRestore={may('admin:CreatePolicy') ? edit : undefined} />
        </Tabs.Panel>
      </Tabs>
      {deleting && <DeletePolicyDialog policy={policy} onClose={() => setDeleting(false)} />}
    </DetailPage>
  );
}

function DeletePolicyDialog({ policy, onClose }: { readonly policy: PolicyAnswer; readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <RemoveDialog
      title={say(t.policies.deleteThePolicy, { name: policy.name })}
      submit={t.policies.deletePolicy}
      remove={useDeletePolicy()}
      what={policy.name}
      done={say(t.policies.isDeleted, { name: policy.name })}
      onDone={() => void navigate('/policies')}
      onClose={onClose}
    >
      {policy.kind === 'replaced' ? t.policies.theBuiltInPolicyOfThisName : t.policies.aPolicyThatIsAttachedIsNot}
    </RemoveDialog>
  );
}

interface EditPolicyProps {
  readonly name: string;
  /** The document that applies now. An earlier one can be saved as it was. */
  readonly saved: string;
  readonly document: string;
  /** The time at which the replaced version was saved. The server refuses to overwrite a later one. */
  readonly expects: string | null;
  readonly onDone: () => void;
}

function EditPolicy({ name, saved, document: begun, expects, onDone }: EditPolicyProps) {
  const save = useSavePolicy();
  const [document, setDocument] = useDraft('document', begun);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (document === saved) {
      onDone();
      return;
    }
    save.mutate(
      { name, document, expects },
      {
        onSuccess: () => {
          notifyDone(say(t.policies.isSavedItAppliesFromTheNext, { name }));
          onDone();
        },
      },
    );
  }

  return (
    <form onSubmit={submit}>
      <DetailPage parent={{ name, to: policyUrl(name), parent }} title={t.labels.edit}>
        <PolicyEditor value={document} onChange={setDocument} />
        {/* The editor shows the errors of the document. */}
        <FormError error={save.error} fields={['policy']} />
        <Group gap="xs">
          <Button type="submit" loading={save.isPending}>
            {t.policies.savePolicy}
          </Button>
          <Button variant="default" onClick={onDone}>
            {t.labels.cancel}
          </Button>
        </Group>
      </DetailPage>
    </form>
  );
}

interface EarlierVersionsProps {
  readonly policy: PolicyAnswer;
  /** Absent where the user may not save. */
  readonly onRestore?: (document: string) => void;
}

/** The last ten versions of the policy, the newest first. */
function EarlierVersions({ policy, onRestore }: EarlierVersionsProps) {
  if (policy.earlier.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.policies.noneThePolicyWasNotChangedSince}
      </Text>
    );
  }
  return (
    <Accordion variant="contained">
      {policy.earlier.map(({ document, updatedAt }, index) => (
        // Two versions may have been saved in the same millisecond.
        <Accordion.Item key={`${updatedAt} ${index}`} value={`${updatedAt} ${index}`}>
          <Accordion.Control>
            <time dateTime={updatedAt} title={formatExactTime(updatedAt)}>
              {formatTime(updatedAt)}
            </time>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="sm" align="flex-start">
              <Code
                block
                w="100%"
                tabIndex={0}
                aria-label={say(t.policies.documentOfUpdatedAt, { updatedAt: formatTime(updatedAt) })}
              >
                {document}
              </Code>
              {onRestore !== undefined && (
                <Button size="compact-sm" variant="default" onClick={() => onRestore(document)}>
                  {t.policies.editFromThisVersion}
                </Button>
              )}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

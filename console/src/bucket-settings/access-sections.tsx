import { Alert, Badge, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import type { FolderRights } from '../api/rights.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import { EditButton } from '../components/edit-buttons.tsx';
import { PolicyEditor } from '../policies/policy-editor.tsx';
import { anonymousAccess, withAnonymousAccess, type AnonymousAccess } from './anonymous-access.ts';
import { blockFields } from './public-block.ts';
import { usePolicy, usePublicBlock, useSetPolicy, useSetPublicBlock } from './settings-queries.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface AccessSectionsProps {
  readonly bucket: string;
  readonly rights: FolderRights;
}

/** The sections about anonymous access, the policy of the bucket, and the block above both. */
export function AccessSections({ bucket, rights }: AccessSectionsProps) {
  const may = rights.bucket;
  const mayEdit = may('s3:PutBucketPolicy') && may('s3:DeleteBucketPolicy');
  return (
    <>
      {may('s3:GetBucketPolicy') && <AnonymousSection bucket={bucket} mayEdit={mayEdit} />}
      {may('s3:GetBucketPolicy') && <PolicySection bucket={bucket} mayEdit={mayEdit} />}
      {may('s3:GetBucketPublicAccessBlock') && (
        <BlockSection bucket={bucket} mayEdit={may('s3:PutBucketPublicAccessBlock')} />
      )}
    </>
  );
}

interface SectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const choices = [
  ['none', t.bucketSettings.none, t.bucketSettings.peopleWithoutAnAccountReachNothing],
  ['download', t.bucketSettings.read, t.bucketSettings.everybodyCanListTheBucketAndDownload],
  ['upload', t.bucketSettings.write, t.bucketSettings.everybodyCanUploadAndDeleteObjectsAnd],
  ['public', t.bucketSettings.readAndWrite, t.bucketSettings.everybodyCanListDownloadUploadAndDelete],
] as const;

function AnonymousSection({ bucket, mayEdit }: SectionProps) {
  const policy = usePolicy(bucket);
  const set = useSetPolicy(bucket);

  function choose(choice: Exclude<AnonymousAccess, 'other'>): void {
    const change = (before: string | undefined) => {
      if (anonymousAccess(before, bucket) === 'other') throw new Error(t.bucketSettings.thePolicyWasChangedMeanwhile);
      return withAnonymousAccess(before, bucket, choice);
    };
    set.mutate(change, {
      onSuccess: () => notifyDone(t.bucketSettings.theAccessWithoutAnAccountIsSaved),
      onError: (error) => notifyFailure(t.bucketSettings.theAccessStaysAsItIs, error),
    });
  }

  return (
    <Section title={t.bucketSettings.accessWithoutAnAccount}>
      <Loaded what={t.bucketSettings.thePolicyCannotBeShown} query={policy}>
        {(document) => {
          const current = anonymousAccess(document ?? undefined, bucket);
          return (
            <Stack gap="sm">
              {current === 'other' && (
                <Alert color="yellow">{t.bucketSettings.thePolicyBelowGivesEverybodyRightsThat}</Alert>
              )}
              {!mayEdit && <ChosenAccess current={current} />}
              {mayEdit && (
                <Radio.Group
                  aria-label={t.bucketSettings.accessWithoutAnAccount}
                  value={current}
                  onChange={(value) => {
                    const chosen = choices.find(([choice]) => choice === value);
                    if (chosen !== undefined) choose(chosen[0]);
                  }}
                >
                  <Stack gap={8}>
                    {choices.map(([value, label, description]) => (
                      <Radio
                        key={value}
                        value={value}
                        label={label}
                        description={description}
                        disabled={set.isPending || current === 'other'}
                      />
                    ))}
                  </Stack>
                </Radio.Group>
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

/** The access, for users who may not change it. */
function ChosenAccess({ current }: { readonly current: AnonymousAccess }) {
  const [, label, description] = choices.find(([choice]) => choice === current) ?? [];
  if (label === undefined) return null;
  return (
    <Group gap="xs">
      <Badge color="gray">{label}</Badge>
      <Text size="sm">{description}</Text>
    </Group>
  );
}

/** The text that the user edits, and the policy that it comes from. */
interface PolicyDraft {
  readonly before: string | null;
  readonly text: string;
}

function PolicySection({ bucket, mayEdit }: SectionProps) {
  const policy = usePolicy(bucket);
  const set = useSetPolicy(bucket);
  const [edited, setEdited] = useDraft<PolicyDraft | undefined>('policy', undefined);

  function end(): void {
    set.reset();
    setEdited(undefined);
  }

  function save({ before, text }: PolicyDraft): void {
    if (before !== null && text === indented(before)) {
      end();
      return;
    }
    const change = (now: string | undefined) => {
      if ((now ?? null) !== before) throw new Error(t.bucketSettings.thePolicyWasChangedMeanwhile);
      return text.trim() === '' ? undefined : text;
    };
    set.mutate(change, {
      onSuccess: () => {
        end();
        notifyDone(t.bucketSettings.thePolicyOfTheBucketIsSaved);
      },
    });
  }

  return (
    <Section
      title={t.bucketSettings.policy}
      words={t.bucketSettings.whoMayDoWhatInThisBucket}
      action={
        mayEdit &&
        policy.isSuccess && (
          <EditButton
            label={t.bucketSettings.editThePolicy}
            onClick={() => setEdited({ before: policy.data, text: indented(policy.data) ?? example(bucket) })}
          />
        )
      }
    >
      <Loaded what={t.bucketSettings.thePolicyCannotBeShown} query={policy}>
        {(document) =>
          document === null ? (
            <Text size="sm" c="dimmed">
              {t.bucketSettings.onlyPoliciesOfUsersGiveRights}
            </Text>
          ) : (
            <pre className="document" tabIndex={0} aria-label={t.bucketSettings.policy}>
              {indented(document)}
            </pre>
          )
        }
      </Loaded>
      {edited !== undefined && (
        <FormDialog
          title={say(t.bucketSettings.policyOf, { bucket })}
          submit={t.bucketSettings.savePolicy}
          wide
          pending={set.isPending}
          error={set.error}
          onSubmit={() => save(edited)}
          onClose={end}
        >
          <PolicyEditor
            value={edited.text}
            onChange={(text) => setEdited({ ...edited, text })}
            required={false}
            bucket={bucket}
          />
          <Text size="sm" c="dimmed">
            {t.bucketSettings.anEmptyDocumentRemovesThePolicy}
          </Text>
        </FormDialog>
      )}
    </Section>
  );
}

function indented(document: string | null): string | undefined {
  return document === null ? undefined : JSON.stringify(JSON.parse(document), null, 2);
}

function example(bucket: string): string {
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: ['arn:aws:iam:::user/NAME'] },
    Action: ['s3:GetObject'],
    Resource: [`arn:aws:s3:::${bucket}/*`],
  };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] }, null, 2);
}

const blockWords = {
  BlockPublicAcls: t.bucketSettings.refuseNewPublicAcls,
  IgnorePublicAcls: t.bucketSettings.ignoreThePublicAclsThatAreThere,
  BlockPublicPolicy: t.bucketSettings.refuseAPublicPolicy,
  RestrictPublicBuckets: t.bucketSettings.ignoreAPublicPolicyThatIsThere,
} as const;

function BlockSection({ bucket, mayEdit }: SectionProps) {
  const block = usePublicBlock(bucket);
  const set = useSetPublicBlock(bucket);
  return (
    <Section title={t.bucketSettings.publicAccessBlock} words={t.bucketSettings.aSecondLockItHoldsWhateverPolicies}>
      <Loaded what={t.bucketSettings.thePublicAccessBlockCannotBeShown} query={block}>
        {(shown) => (
          <Stack gap="xs">
            {blockFields.map((field) =>
              mayEdit ? (
                <Checkbox
                  key={field}
                  label={blockWords[field]}
                  checked={shown[field]}
                  disabled={set.isPending}
                  onChange={(event) => set.mutate({ [field]: event.currentTarget.checked })}
                />
              ) : (
                <Group key={field} gap="xs">
                  <Badge color={shown[field] ? undefined : 'gray'}>
                    {shown[field] ? t.bucketSettings.on : t.bucketSettings.off}
                  </Badge>
                  <Text size="sm">{blockWords[field]}</Text>
                </Group>
              ),
            )}
            <FormError error={set.error} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

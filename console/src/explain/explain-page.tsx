import {
  Button,
  Group,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useState, type SubmitEvent } from 'react';
import { useSearchParams } from 'react-router';
import type { ExplainWho, ExplainAnswer, ExplainQuestion } from '../../../protocol/console/explain-answers.ts';
import { useSignInOptions } from '../api/session.ts';
import { fieldError, FormError } from '../components/form-dialog.tsx';
import { parseContext } from './context-lines.ts';
import { Verdict } from './verdict.tsx';
import { useMutation } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

const exampleClaims = JSON.stringify({ sub: '…', policy: ['readonly'] }, null, 2);

/** Explains a decision of the policies. */
export function ExplainPage() {
  useDocumentTitle(t.explain.explainCoffer);
  const [search] = useSearchParams();
  const explain = useExplain();
  const [kind, setKind] = useDraft<ExplainWho['kind']>('kind', 'name');
  const [name, setName] = useDraft('name', search.get('who') ?? '');
  const [provider, setProvider] = useDraft<string | undefined>('provider', undefined);
  const [claims, setClaims] = useDraft('claims', exampleClaims);
  const [action, setAction] = useDraft('action', 's3:GetObject');
  const [resource, setResource] = useDraft('resource', '');
  const [context, setContext] = useDraft('context', '');
  const [issue, setIssue] = useState<{ readonly field: 'claims' | 'context'; readonly message: string }>();
  const providers = useSignInOptions().data?.providers ?? [];
  const chosen = provider ?? providers[0]?.id ?? '';

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    setIssue(undefined);
    const keys = parseContext(context);
    if (keys.kind === 'wrong') return setIssue({ field: 'context', message: keys.message });
    const who = whoOf(kind, name, chosen, claims);
    if (who === undefined) return setIssue({ field: 'claims', message: t.explain.thisIsNoJsonObject });
    return explain.mutate({ who, action, resource, context: keys.values });
  }

  const text = { spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' } as const;
  return (
    <Stack gap="lg">
      <div>
        <Title order={1} mih={36} lh="36px">
          {t.labels.explain}
        </Title>
        <Text size="sm" c="dimmed">
          {t.explain.whoMayDoWhatAndWhyThe}
        </Text>
      </div>
      <form onSubmit={submit}>
        <Stack gap="md" maw={860}>
          {providers.length > 0 && (
            <SegmentedControl
              aria-label={t.explain.whomToAskAbout}
              styles={{ label: { whiteSpace: 'normal' } }}
              value={kind}
              onChange={(value) => setKind(value === 'claims' ? 'claims' : 'name')}
              data={[
                { value: 'name', label: t.explain.aUserOrAnAccessKey },
                { value: 'claims', label: t.explain.aUserWithTheseClaims },
              ]}
            />
          )}
          {kind === 'name' ? (
            <TextInput
              {...text}
              label={t.explain.userOrAccessKey}
              required
              withAsterisk={false}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          ) : (
            <>
              <Select
                label={t.explain.provider}
                data={providers.map(({ id, displayName }) => ({ value: id, label: displayName }))}
                value={chosen}
                onChange={(id) => setProvider(id ?? undefined)}
                allowDeselect={false}
                error={fieldError(explain.error, 'provider')}
              />
              <Textarea
                {...text}
                label={t.explain.claims}
                description={t.explain.thePayloadOfATokenAsJson}
                autosize
                minRows={4}
                classNames={{ input: 'mono' }}
                value={claims}
                onChange={(event) => setClaims(event.currentTarget.value)}
                error={issue?.field === 'claims' ? issue.message : fieldError(explain.error, 'claims', 'who')}
              />
            </>
          )}
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
            <TextInput
              {...text}
              label={t.explain.action}
              description={t.explain.suchAsS3PutobjectS3ListbucketAdmin}
              required
              withAsterisk={false}
              value={action}
              onChange={(event) => setAction(event.currentTarget.value)}
            />
            <TextInput
              {...text}
              label={t.explain.resource}
              description={t.explain.aBucketOrBucketKeyNothingFor}
              value={resource}
              onChange={(event) => setResource(event.currentTarget.value)}
            />
          </SimpleGrid>
          <Textarea
            {...text}
            label={t.explain.ofTheRequestOptional}
            description={t.explain.conditionKeysOneALineSuchAs}
            autosize
            minRows={1}
            classNames={{ input: 'mono' }}
            value={context}
            onChange={(event) => setContext(event.currentTarget.value)}
            error={issue?.field === 'context' ? issue.message : undefined}
          />
          <FormError error={explain.error} fields={['provider', 'claims', 'who']} />
          <Group>
            <Button type="submit" loading={explain.isPending}>
              {t.labels.explain}
            </Button>
          </Group>
        </Stack>
      </form>
      <div aria-live="polite">{explain.isSuccess && <Verdict answer={explain.data} />}</div>
    </Stack>
  );
}

/** Returns undefined if the claims are not a JSON object. */
function whoOf(kind: ExplainWho['kind'], name: string, provider: string, claims: string): ExplainWho | undefined {
  if (kind === 'name') return { kind, name };
  try {
    const parsed: unknown = JSON.parse(claims);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
    return { kind, provider, claims: { ...parsed } };
  } catch {
    return undefined;
  }
}

function useExplain() {
  return useMutation({
    mutationFn: (question: ExplainQuestion) => call<ExplainAnswer>('POST', '/explain', { body: question }),
  });
}

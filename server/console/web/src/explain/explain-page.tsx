import { Button, Group, SegmentedControl, Select, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useState, type SubmitEvent } from 'react';
import { useSearchParams } from 'react-router';
import type { ExplainWho, ExplainAnswer, ExplainQuestion } from '../../../contract/explain-answers.ts';
import { useSignInOptions } from '../api/session.ts';
import { fieldError, FormError } from '../components/form-dialog.tsx';
import { parseContext } from './context-lines.ts';
import { Verdict } from './verdict.tsx';
import { useMutation } from '@tanstack/react-query';
import { call } from '../api/call.ts';

const exampleClaims = JSON.stringify({ sub: '…', policy: ['readonly'] }, null, 2);

/** Explains a decision of the policies. */
export function ExplainPage() {
  useDocumentTitle('Explain · Coffer');
  const [search] = useSearchParams();
  const explain = useExplain();
  const [kind, setKind] = useState<ExplainWho['kind']>('name');
  const [name, setName] = useState(search.get('who') ?? '');
  const [provider, setProvider] = useState<string>();
  const [claims, setClaims] = useState(exampleClaims);
  const [action, setAction] = useState('s3:GetObject');
  const [resource, setResource] = useState('');
  const [context, setContext] = useState('');
  const [problem, setProblem] = useState<{ readonly field: 'claims' | 'context'; readonly message: string }>();
  const providers = useSignInOptions().data?.providers ?? [];
  const chosen = provider ?? providers[0]?.id ?? '';

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    setProblem(undefined);
    const keys = parseContext(context);
    if (keys.kind === 'wrong') return setProblem({ field: 'context', message: keys.message });
    const who = whoOf(kind, name, chosen, claims);
    if (who === undefined) return setProblem({ field: 'claims', message: 'This is no JSON object.' });
    return explain.mutate({ who, action, resource, context: keys.values });
  }

  const text = { spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' } as const;
  return (
    <Stack gap="lg" maw={860}>
      <div>
        <Title order={1} mih={36}>
          Explain
        </Title>
        <Text size="sm" c="dimmed">
          Who may do what, and why: the decision that the server would make now, and what each policy says to it.
        </Text>
      </div>
      <form onSubmit={submit}>
        <Stack gap="md">
          {providers.length > 0 && (
            <SegmentedControl
              aria-label="Whom to ask about"
              styles={{ label: { whiteSpace: 'normal' } }}
              value={kind}
              onChange={(value) => setKind(value === 'claims' ? 'claims' : 'name')}
              data={[
                { value: 'name', label: 'A user or an access key' },
                { value: 'claims', label: 'A user with these claims' },
              ]}
            />
          )}
          {kind === 'name' ? (
            <TextInput
              {...text}
              label="User or access key"
              required
              withAsterisk={false}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          ) : (
            <>
              <Select
                label="Provider"
                data={providers.map(({ id, displayName }) => ({ value: id, label: displayName }))}
                value={chosen}
                onChange={(id) => setProvider(id ?? undefined)}
                allowDeselect={false}
                error={fieldError(explain.error, 'provider')}
              />
              <Textarea
                {...text}
                label="Claims"
                description="The payload of a token, as JSON. The token itself is not needed."
                autosize
                minRows={4}
                classNames={{ input: 'mono' }}
                value={claims}
                onChange={(event) => setClaims(event.currentTarget.value)}
                error={problem?.field === 'claims' ? problem.message : fieldError(explain.error, 'claims', 'who')}
              />
            </>
          )}
          <Group grow align="flex-start">
            <TextInput
              {...text}
              label="Action"
              description="Such as s3:PutObject, s3:ListBucket, admin:ServerInfo."
              required
              withAsterisk={false}
              value={action}
              onChange={(event) => setAction(event.currentTarget.value)}
            />
            <TextInput
              {...text}
              label="Resource"
              description="A bucket, or bucket/key; nothing for admin actions."
              value={resource}
              onChange={(event) => setResource(event.currentTarget.value)}
            />
          </Group>
          <Textarea
            {...text}
            label="Of the request (optional)"
            description="Condition keys, one a line, such as aws:SourceIp=192.0.2.7 or s3:prefix=home/."
            autosize
            minRows={1}
            classNames={{ input: 'mono' }}
            value={context}
            onChange={(event) => setContext(event.currentTarget.value)}
            error={problem?.field === 'context' ? problem.message : undefined}
          />
          <FormError error={explain.error} fields={['provider', 'claims', 'who']} />
          <Group>
            <Button type="submit" loading={explain.isPending}>
              Explain
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

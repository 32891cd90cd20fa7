import { Button, Group, Stack, PasswordInput, Select, TextInput } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import type { ProviderKind, ProviderKey } from '../../../protocol/console/provider-answers.ts';
import { useTestProvider, type ProviderName } from '../api/providers.ts';
import { FormError } from '../components/form-dialog.tsx';
import { problemsByKey } from './problems-by-key.ts';
import { ProviderSteps } from './provider-test.tsx';
import { RecipeFields } from './recipe-fields.tsx';
import { say } from '../texts/say.ts';
import { HelpText } from '../components/help-text.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

type Values = Readonly<Record<string, string>>;

interface ProviderFormProps {
  readonly kind: ProviderKind;
  readonly id: ProviderName;
  /** The saved values. */
  readonly known: Values;
  readonly submit: string;
  readonly pending: boolean;
  readonly error: Error | null;
  /** Fields of `children` that show their own errors. */
  readonly fields?: readonly string[];
  readonly onSubmit: (form: EditedValues) => void;
  readonly onCancel: () => void;
  /** Offers to fill in what is particular of an OpenID provider. */
  readonly recipes?: boolean;
  readonly children?: ReactNode;
}

interface EditedValues {
  /** All values that are not empty. */
  readonly values: Values;
  /** The fields that differ from the saved ones. An empty one removes what is saved. */
  readonly changes: Values;
}

/** The frequent keys, then the others. Empty values are not sent, so that the defaults apply. */
export function ProviderForm(props: ProviderFormProps) {
  const { kind, id, known, submit, pending, error, fields = [], onSubmit, onCancel, recipes, children } = props;
  // The draft has what the user typed with the values that the page showed then: after a reload, there may be newer ones.
  const [{ shown, typed }, setDraft] = useDraft<{ readonly shown: Values; readonly typed: Values }>(
    'values',
    { shown: known, typed: {} },
    (draft) => ({ ...draft, typed: withoutSecrets(draft.typed, kind.keys) }),
  );
  const values: Values = { ...shown, ...typed };
  const [more, setMore] = useDraft('more', false);
  const test = useTestProvider(id);
  const problems = problemsByKey(
    error,
    kind.keys.map(({ key }) => key),
  );
  const first = kind.keys.filter(({ key, optional }) => !optional || usual.has(key));
  const rest = kind.keys.filter((key) => !first.includes(key));
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  const changes = Object.fromEntries(Object.entries(typed).filter(([key, value]) => value !== (shown[key] ?? '')));
  const wrongAmongRest = rest.some(({ key }) => problems.byKey.has(key));

  function send(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onSubmit({ values: given, changes });
  }

  /** Fills empty fields, and those that an earlier choice filled. */
  function fill(settings: Values, earlier: Values): void {
    const own = Object.entries(typed).filter(([key, value]) => value !== '' && value !== earlier[key]);
    setDraft({ shown, typed: { ...settings, ...Object.fromEntries(own) } });
  }

  const field = (key: ProviderKind['keys'][number]) => (
    <KeyField
      key={key.key}
      field={key}
      value={values[key.key] ?? ''}
      error={problems.byKey.get(key.key)}
      onChange={(value) => setDraft({ shown, typed: { ...typed, [key.key]: value } })}
    />
  );
  return (
    <form onSubmit={send}>
      <Stack gap="md" maw={720}>
        {children}
        {recipes === true && <RecipeFields onFilled={fill} />}
        {first.map(field)}
        {more || wrongAmongRest ? (
          rest.map(field)
        ) : (
          <Button
            variant="subtle"
            size="compact-sm"
            className="flush"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => setMore(true)}
          >
            {say(t.providers.moreSettings, { rest: rest.length })}
          </Button>
        )}
        {problems.other !== undefined && <FormError error={problems.other} fields={fields} />}
        {test.isError && <FormError error={test.error} />}
        {test.isSuccess && <ProviderSteps steps={test.data.steps} />}
        <Group gap="xs">
          <Button type="submit" loading={pending}>
            {submit}
          </Button>
          {kind.testable && (
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate({ values: given })}>
              {t.providers.test}
            </Button>
          )}
          <Button variant="default" onClick={onCancel}>
            {t.labels.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const usual = new Set([
  'client_secret',
  'cli_client_id',
  'display_name',
  'scopes',
  'claim_name',
  'role_policy',
  'vendor',
  'lookup_bind_dn',
  'lookup_bind_password',
  'user_dn_search_base_dn',
  'user_dn_search_filter',
  'group_search_base_dn',
  'group_search_filter',
]);

interface KeyFieldProps {
  readonly field: ProviderKey;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

/** Leaves out the values of secret keys. */
function withoutSecrets(values: Values, keys: readonly ProviderKey[]): Values {
  const secrets = new Set(keys.filter(({ secret }) => secret).map(({ key }) => key));
  return Object.fromEntries(Object.entries(values).filter(([key]) => !secrets.has(key)));
}

/** One key of a configuration, with its name in `mc` and in the guides. */
function KeyField({ field, value, error, onChange }: KeyFieldProps) {
  const shared = { label: field.key, description: <HelpText text={field.help} />, error };
  if (field.type === 'on-off') {
    return (
      <Select
        {...shared}
        data={['on', 'off']}
        placeholder={t.providers.default}
        clearable
        value={value === '' ? null : value}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    );
  }
  const text = {
    ...shared,
    required: !field.optional,
    withAsterisk: false,
    spellCheck: false,
    autoComplete: 'off',
    value,
  } as const;
  if (field.secret) {
    // A saved secret is not shown. An unchanged field keeps it.
    return (
      <PasswordInput {...text} autoComplete="new-password" onChange={(event) => onChange(event.currentTarget.value)} />
    );
  }
  return <TextInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />;
}

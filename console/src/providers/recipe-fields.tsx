import { Select, Stack, TextInput } from '@mantine/core';
import { fillRecipe, providerRecipes } from '../../../protocol/settings/provider-recipes.ts';
import { HelpText } from '../components/help-text.tsx';
import { useDraft } from '../components/use-draft.ts';
import { t } from '../texts/texts.ts';

type Values = Readonly<Record<string, string>>;

interface RecipeFieldsProps {
  /** Gets the settings of the recipe, and the keys that an earlier choice had filled. */
  readonly onFilled: (settings: Values, earlier: readonly string[]) => void;
}

/** Fills the form with what is particular of a provider: its address from the few parts that differ, scopes and claims. */
export function RecipeFields({ onFilled }: RecipeFieldsProps) {
  const [{ name, parts }, setDraft] = useDraft<{ readonly name: string; readonly parts: Values }>('recipe', {
    name: '',
    parts: {},
  });
  const recipe = providerRecipes.find((one) => one.name === name);

  function choose(chosen: string, given: Values): void {
    const next = providerRecipes.find((one) => one.name === chosen);
    const filled = next === undefined ? undefined : fillRecipe(next, new Map(Object.entries(given)));
    const earlier = chosen === name ? [] : Object.keys(recipe?.settings ?? {});
    setDraft({ name: chosen, parts: given });
    onFilled(filled?.kind === 'settings' ? filled.settings : {}, earlier);
  }

  return (
    <Stack gap="md">
      <Select
        label={t.providers.recipe}
        description={recipe === undefined ? t.providers.recipeHelp : <HelpText text={recipe.advice} />}
        placeholder={t.providers.anotherProvider}
        data={providerRecipes.map((one) => ({ value: one.name, label: one.title }))}
        clearable
        value={name === '' ? null : name}
        onChange={(chosen) => choose(chosen ?? '', {})}
      />
      {recipe?.parts.map((part) => (
        <TextInput
          key={part.name}
          label={part.name}
          placeholder={part.example}
          spellCheck={false}
          autoComplete="off"
          value={parts[part.name] ?? ''}
          onChange={(event) => choose(name, { ...parts, [part.name]: event.currentTarget.value })}
        />
      ))}
    </Stack>
  );
}

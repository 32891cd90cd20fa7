import { Select, Stack, TextInput } from '@mantine/core';
import { fillRecipe, providerRecipes } from '../../../protocol/settings/provider-recipes.ts';
import { HelpText } from '../components/help-text.tsx';
import { useDraft } from '../components/use-draft.ts';
import { t } from '../texts/texts.ts';

type Values = Readonly<Record<string, string>>;

interface RecipeFieldsProps {
  /** Gets the settings of the recipe, and those that an earlier choice had filled in. */
  readonly onFilled: (settings: Values, earlier: Values) => void;
}

interface Chosen {
  readonly name: string;
  readonly parts: Values;
}

function settingsOf({ name, parts }: Chosen): Values {
  const recipe = providerRecipes.find((one) => one.name === name);
  const filled = recipe && fillRecipe(recipe, new Map(Object.entries(parts)));
  return filled?.kind === 'settings' ? filled.settings : {};
}

/** Fills the form with what is particular of a provider: its address from the few parts that differ, scopes and claims. */
export function RecipeFields({ onFilled }: RecipeFieldsProps) {
  const [chosen, setChosen] = useDraft<Chosen>('recipe', { name: '', parts: {} });
  const { name, parts } = chosen;
  const recipe = providerRecipes.find((one) => one.name === name);

  function choose(next: Chosen): void {
    setChosen(next);
    onFilled(settingsOf(next), settingsOf(chosen));
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
        onChange={(picked) => choose({ name: picked ?? '', parts: {} })}
      />
      {recipe?.parts.map((part) => (
        <TextInput
          key={part.name}
          label={part.name}
          placeholder={part.example}
          spellCheck={false}
          autoComplete="off"
          value={parts[part.name] ?? ''}
          onChange={(event) => choose({ name, parts: { ...parts, [part.name]: event.currentTarget.value } })}
        />
      ))}
    </Stack>
  );
}

/** The forms of a text with a count, one for each plural category that the language has. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** The texts of a part in another language: the same names, and forms where the English text has forms. */
export type Translated<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends string ? string : Forms;
};

/** A translation of a catalogue: the texts of all its parts. */
export type Translation<Catalogue> = { readonly [Part in keyof Catalogue]: Translated<Catalogue[Part]> };

import type { signIn as source } from '../en/sign-in.ts';
import type { Translated } from '../translated.ts';

export const signIn: Translated<typeof source> = {
  yourSessionHasEnded: 'Ihre Sitzung ist beendet',
  yourSessionEndsInS: 'Ihre Sitzung endet in {seconds} s',
  signInAgainAsThisPageStays:
    'Melden Sie sich wieder als {name} an. Diese Seite bleibt, wie sie ist, mit allem, was Sie eingegeben haben.',
  passwordOf: 'Passwort von {name}',
  secretKeyOf: 'Geheimer Schlüssel zu {accessKey}',
  showWhatIsTyped: 'Eingabe anzeigen',
  signIn: 'Anmelden',
  signInAsAnotherUser: 'Als anderer Benutzer anmelden',
  signInBy: 'Anmelden über',
  directory: 'Verzeichnis',
  keys: 'Schlüssel',
  myKeysAreTemporaryAndHaveA: 'Meine Schlüssel sind temporär und haben ein Sitzungstoken',
  sessionToken: 'Sitzungstoken',
  password: 'Passwort',
  signInCoffer: 'Anmelden · Coffer',
  youAreNotSignedIn: 'Sie sind nicht angemeldet',
  waysToSignInCannotBeLoaded: 'Die Anmeldewege können nicht geladen werden',
  orWithANameAndPassword: 'oder mit Name und Passwort',
  orWithAnAccessKey: 'oder mit einem Zugriffsschlüssel',
  doesNotAnswerNow: 'Antwortet zurzeit nicht. Versuchen Sie es gleich noch einmal.',
  youAreSignedInCloseThisWindow: 'Sie sind angemeldet. Schließen Sie dieses Fenster.',
};

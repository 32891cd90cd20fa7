import type { providers as source } from '../en/providers.ts';
import type { Translated } from '../translated.ts';

export const providers: Translated<typeof source> = {
  theFormCannotBeShown: 'Das Formular kann nicht angezeigt werden',
  thereIsNoType: 'Es gibt keine Art {type}.',
  newProvider: 'Neuer Anbieter: {type}',
  addProvider: 'Anbieter hinzufügen',
  isAddedAndInEffect: '{id} ist hinzugefügt und wirksam.',
  lettersDigitsAndItCannotBeChanged: 'Buchstaben, Ziffern, _ und -. Der Name lässt sich später nicht ändern.',
  moreSettings: { one: '{rest} weitere Einstellung', other: '{rest} weitere Einstellungen' },
  test: 'Prüfen',
  default: 'Standard',
  readOnly: 'Nur lesbar',
  environmentVariablesOfTheServerSetIt:
    'Umgebungsvariablen des Servers setzen ihn: Ändern Sie sie und starten Sie den Server neu.',
  settingsThatAreNotListedHaveTheir: 'Nicht aufgeführte Einstellungen haben ihren Standardwert.',
  roleArn: 'ARN der Rolle',
  isSwitchedOff: '{name} ist ausgeschaltet.',
  isSwitchedOn: '{name} ist eingeschaltet.',
  staysSwitchedOn: '{name} bleibt eingeschaltet',
  staysSwitchedOff: '{name} bleibt ausgeschaltet',
  remove: 'Entfernen…',
  isSavedAndInEffect: '{name} ist gespeichert und wirksam.',
  removeTheProvider: 'Den Anbieter {name} entfernen?',
  removeProvider: 'Anbieter entfernen',
  isRemoved: '{name} ist entfernt.',
  peopleCannotSignInByItAny:
    'Über ihn kann sich niemand mehr anmelden, und seine Geheimnisse werden gelöscht. Um ihn für später zu behalten, deaktivieren Sie ihn stattdessen.',
  goesTheWayOfASignIn:
    'Geht den Weg einer Anmeldung, so weit er ohne eine Person geht: Zertifikate, Discovery, Schlüssel, der Client und sein Geheimnis.',
  goesTheWayOfASignInWithout:
    'Geht den Weg einer Anmeldung ohne das Passwort: Verbindung, Suchkonto, die Person, ihre Gruppen und was ihnen zugeordnet ist.',
  goesTheWayOfASignInTitle: 'Geht den Weg einer Anmeldung.',
  aNameAsPeopleTypeItOr: 'Ein Name, wie er eingegeben wird, oder ein Distinguished Name. Darf fehlen.',
  testNow: 'Jetzt prüfen',
  resultOfTheTest: 'Ergebnis der Prüfung',
  theListOfIdentityProvidersCannotBe: 'Die Liste der Identitätsanbieter kann nicht angezeigt werden',
  redirectUriToRegisterAtAnOpenid: 'Redirect-URI, die bei einem OpenID-Anbieter einzutragen ist:',
  addProviderType: 'Anbieter hinzufügen: {type}',
  noneYet: 'Noch keine',
  withAProviderPeopleSignInBy:
    'Mit einem Anbieter geht die Anmeldung über ein Konto, das es schon gibt. Richtlinien werden dort oder hier zugewiesen.',
  from: 'Aus',
  ready: 'bereit',
  switchedOff: 'ausgeschaltet',
  notCheckedBeforeASignIn: 'vor einer Anmeldung nicht geprüft',
  cannotBeUsed: 'nicht verwendbar',
  thisConsoleOrMc: 'dieser Konsole oder mc',
  environmentVariablesOfTheServerSetItChange: 'Umgebungsvariablen des Servers setzen ihn. Ändern Sie ihn dort.',
  environmentReadOnly: 'Umgebung, nur lesbar',
};

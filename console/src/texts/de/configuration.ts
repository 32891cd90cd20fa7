import type { configuration as source } from '../en/configuration.ts';
import type { Translated } from '../translated.ts';

export const configuration: Translated<typeof source> = {
  theHistoryCannotBeShown: 'Der Verlauf kann nicht angezeigt werden',
  noChangesYet: 'Noch keine Änderungen',
  eachChangeOfAnIdentityProviderIs:
    'Jede Änderung eines Identitätsanbieters bleibt hier erhalten und lässt sich zurücknehmen. Was die Umgebung setzt, hat keinen Verlauf.',
  time: 'Zeit',
  configuration: 'Konfiguration',
  restoreTheConfigurationOf: 'Die Konfiguration vom {createTime} wiederherstellen',
  restore: 'Wiederherstellen…',
  restoreThisConfiguration: 'Diese Konfiguration wiederherstellen?',
  restoreTitle: 'Wiederherstellen',
  theConfigurationWasRestored: 'Die Konfiguration ist wiederhergestellt.',
  theseLinesReplaceThePresentOnesThe: 'Diese Zeilen ersetzen die jetzigen. Die jetzigen bleiben im Verlauf.',
  subsystems: 'Subsysteme',
  history: 'Verlauf',
  theConfigurationCannotBeShown: 'Die Konfiguration kann nicht angezeigt werden',
  filterSubsystems: 'Subsysteme filtern',
  changeItOnThePageOfThe: 'Auf der Seite der Identitätsanbieter ändern',
  variable: 'Variable',
  value: 'Wert',
  notSet: 'nicht gesetzt',
  environment: 'Umgebung',
};

import type { lifecycle as source } from '../en/lifecycle.ts';
import type { Translated } from '../translated.ts';

export const lifecycle: Translated<typeof source> = {
  whatWouldItTouch: 'Was würde sie betreffen?',
  theFirstVersionsWereReadThereAre: 'Die ersten {read} Versionen wurden gelesen: Es gibt mehr.',
  tagsWereNotReadObjectsWithOther: 'Tags wurden nicht gelesen: Objekte mit anderen Tags sind mitgezählt.',
  withTheNextRun: 'Beim nächsten Lauf: {due}.',
  laterIfNothingChanges: 'Später, wenn sich nichts ändert: {later}.',
  forExample: 'Zum Beispiel {examples}',
  objects: { one: '{objects} Objekt', other: '{objects} Objekte' },
  oldVersions: { one: '{versions} alte Version', other: '{versions} alte Versionen' },
  deleteMarkers: { one: '{markers} Löschmarkierung', other: '{markers} Löschmarkierungen' },
  unfinishedUploads: { one: '{uploads} unvollendeter Upload', other: '{uploads} unvollendete Uploads' },
  nothing: 'nichts',
  objectsMoveToTheTierAsSoon: 'Objekte wandern in die Stufe {moveTier}, sobald sie gespeichert sind.',
  objectsWhoseKeysBeginWithMoveTo:
    'Objekte, deren Schlüssel mit „{prefix}“ beginnen, wandern in die Stufe {moveTier}, sobald sie gespeichert sind.',
  objectsMoveToTheTierDaysAfter: {
    one: 'Objekte wandern {moveDays} Tag nach dem Speichern in die Stufe {moveTier}.',
    other: 'Objekte wandern {moveDays} Tage nach dem Speichern in die Stufe {moveTier}.',
  },
  objectsWhoseKeysBeginWithMoveToPrefixMoveTierMoveDays: {
    one: 'Objekte, deren Schlüssel mit „{prefix}“ beginnen, wandern {moveDays} Tag nach dem Speichern in die Stufe {moveTier}.',
    other:
      'Objekte, deren Schlüssel mit „{prefix}“ beginnen, wandern {moveDays} Tage nach dem Speichern in die Stufe {moveTier}.',
  },
  oldVersionsMoveToTheTierDays: {
    one: 'Alte Versionen wandern {oldMoveDays} Tag nach ihrer Ersetzung in die Stufe {oldMoveTier}.',
    other: 'Alte Versionen wandern {oldMoveDays} Tage nach ihrer Ersetzung in die Stufe {oldMoveTier}.',
  },
  objectsMoveToTheTierAt: 'Objekte wandern zu diesem Zeitpunkt in die Stufe {moveTier}: {time}.',
  objectsAreDeletedAt: 'Objekte werden zu diesem Zeitpunkt gelöscht: {time}.',
  objectsAreDeletedDaysAfterTheyWere: {
    one: 'Objekte werden {expireDays} Tag nach dem Speichern gelöscht.',
    other: 'Objekte werden {expireDays} Tage nach dem Speichern gelöscht.',
  },
  objectsWhoseKeysBeginWithAreDeleted: {
    one: 'Objekte, deren Schlüssel mit „{prefix}“ beginnen, werden {expireDays} Tag nach dem Speichern gelöscht.',
    other: 'Objekte, deren Schlüssel mit „{prefix}“ beginnen, werden {expireDays} Tage nach dem Speichern gelöscht.',
  },
  oldVersionsAreRemovedAtOnceExcept: {
    one: 'Alte Versionen werden entfernt, sobald sie ersetzt sind, außer der {keepVersions} neuesten jedes Schlüssels.',
    other:
      'Alte Versionen werden entfernt, sobald sie ersetzt sind, außer den neuesten {keepVersions} jedes Schlüssels.',
  },
  oldVersionsAreRemovedDaysAfterThey: {
    one: 'Alte Versionen werden {noncurrentDays} Tag nach ihrer Ersetzung entfernt.',
    other: 'Alte Versionen werden {noncurrentDays} Tage nach ihrer Ersetzung entfernt.',
  },
  oldVersionsAreRemovedDaysAfterTheyNoncurrentDaysKeepVersions: {
    one: 'Alte Versionen werden {noncurrentDays} Tag nach ihrer Ersetzung entfernt, außer den neuesten {keepVersions} jedes Schlüssels.',
    other:
      'Alte Versionen werden {noncurrentDays} Tage nach ihrer Ersetzung entfernt, außer den neuesten {keepVersions} jedes Schlüssels.',
  },
  deleteMarkersWithoutAnyVersionBeforeThem: 'Löschmarkierungen ohne eine Version davor werden entfernt.',
  unfinishedUploadsAreRemovedDaysAfterTheir: {
    one: 'Unvollendete Uploads werden {abortDays} Tag nach ihrem Beginn entfernt.',
    other: 'Unvollendete Uploads werden {abortDays} Tage nach ihrem Beginn entfernt.',
  },
  itDoesNothing: 'Sie tut nichts.',
  daysAndCountsAreWholeNumbersFrom: 'Tage und Anzahlen sind ganze Zahlen ab 1.',
  aRuleCannotBothExpireObjectsAnd:
    'Eine Regel kann nicht zugleich Objekte ablaufen lassen und Löschmarkierungen entfernen: Machen Sie zwei Regeln.',
  theRuleDeletesAtADate:
    'Die Regel löscht Objekte zu einem Datum, das dieses Formular nicht bearbeitet: Legen Sie eine weitere Regel an.',
  theRuleMovesAtADate:
    'Die Regel verschiebt Objekte zu einem Datum, das dieses Formular nicht bearbeitet: Legen Sie eine weitere Regel an.',
  atMost100OldVersionsCanBe: 'Höchstens 100 alte Versionen können behalten werden.',
  chooseAtLeastOneThingThatThe: 'Wählen Sie mindestens eines, was die Regel tut.',
  aMoveHasBothDaysAndA: 'Zu einer Verlagerung gehören Tage und eine Stufe.',
  daysUntilAMoveAreWholeNumbers: 'Tage bis zu einer Verlagerung sind ganze Zahlen ab 0.',
  whatMovesToATierIsDeleted: 'Was in eine Stufe wandert, wird später gelöscht, als es wandert.',
  lifecycle: 'Lebenszyklus',
  whatTheServerRemovesOrMovesTo: 'Was der Server einmal am Tag von selbst entfernt oder in Stufen verlagert.',
  theLifecycleCannotBeShown: 'Der Lebenszyklus kann nicht angezeigt werden',
  addARule: 'Regel hinzufügen',
  noRulesAllObjectsStayUntilA: 'Keine Regeln: Alle Objekte bleiben, bis ein Benutzer sie löscht.',
  theLifecycleIsSaved: 'Der Lebenszyklus ist gespeichert.',
  off: 'aus',
  editTheRule: 'Die Regel {id} bearbeiten',
  removeTheRule: 'Die Regel {id} entfernen',
  deleteObjectsAfter: 'Objekte löschen nach',
  removeOldVersionsAfter: 'Alte Versionen entfernen nach',
  butKeepTheNewest: 'aber behalten: die neuesten',
  oldVersionsWord: 'alten Versionen',
  removeUnfinishedUploadsAfter: 'Unvollendete Uploads entfernen nach',
  addALifecycleRule: 'Eine Lebenszyklusregel hinzufügen',
  editTheLifecycleRule: 'Die Lebenszyklusregel bearbeiten',
  saveRule: 'Regel speichern',
  theServerGivesANameWhereYou: 'Bleibt es leer, vergibt der Server einen Namen.',
  emptyAllKeysOfTheBucket: 'Leer: alle Schlüssel des Buckets.',
  removeDeleteMarkersWithoutAnyVersionBefore: 'Löschmarkierungen ohne eine Version davor entfernen',
  theRuleIsOn: 'Die Regel ist an',
  moveObjectsAfter: 'Objekte verlagern nach',
  toTheTier: 'in die Stufe',
  moveOldVersionsAfter: 'Alte Versionen verlagern nach',
  days: 'Tagen',
};

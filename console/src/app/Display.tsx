import { useId, useRef, useState, useSyncExternalStore } from 'react';
import { subscribePreferences, writePreference } from '../base/preferences.ts';
import { shell } from '../text/en/shell.ts';
import { useZoneChoice, zoneChoices } from '../time/zone.ts';
import { Button } from '../ui/Button.tsx';
import { Segmented, Switch } from '../ui/choices.tsx';
import { letterKeysOn } from '../ui/keys.ts';
import { schemes, useScheme } from '../ui/Theme.tsx';
import css from './Display.module.css';

/** The choices of this browser: theme, zone of times, single-letter keys. */
export const DisplayChoices = ({ onHelp }: { onHelp: () => void }) => {
  const [scheme, setScheme] = useScheme();
  const [zone, setZone] = useZoneChoice();
  const letterKeys = useSyncExternalStore(subscribePreferences, letterKeysOn);
  return (
    <div className={css.choices}>
      <Segmented
        label={shell.theme}
        value={scheme}
        onChange={setScheme}
        options={schemes.map((value) => ({ value, label: shell.themes[value] }))}
      />
      <Segmented
        label={shell.zone}
        value={zone}
        onChange={setZone}
        options={zoneChoices.map((value) => ({ value, label: shell.zones[value] }))}
      />
      <Switch
        label={shell.letterKeys}
        hint={shell.letterKeysHint}
        value={letterKeys}
        onChange={(on) => writePreference('letter-keys', on ? null : 'off')}
      />
      <div>
        <Button small onClick={onHelp}>
          {shell.help}
        </Button>
      </div>
    </div>
  );
};

/** The button that opens them, in the rail. `label` is the zone in which times are shown. */
export const Display = ({ label, onHelp }: { label: string; onHelp: () => void }) => {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  // The frame is painted before anyone has opened it, and its controls cost more than the rest of the rail.
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button kind="quiet" small popoverTarget={id} aria-label={`${shell.display}: ${label}`}>
        {label}
      </Button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={shell.display}
        className={css.panel}
        onBeforeToggle={() => setOpened(true)}
      >
        {opened && (
          <DisplayChoices
            onHelp={() => {
              panel.current?.hidePopover();
              onHelp();
            }}
          />
        )}
      </div>
    </>
  );
};

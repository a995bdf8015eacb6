import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import type { Me } from '../api/me.ts';
import { shell } from '../text/en/shell.ts';
import { useZoneChoice, zoneChoices } from '../time/zone.ts';
import { cx } from '../ui/cx.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { Link } from '../ui/Link.tsx';
import { schemes, useScheme } from '../ui/Theme.tsx';
import { groupsFor, otherPlaces } from './navigation.tsx';
import css from './Palette.module.css';
import { recentVisits } from './recent.ts';
import { useSearchResults } from './search-results.ts';

/** An entry of the palette: a link, or a choice of this browser. */
interface Entry {
  id: string;
  group: string;
  label: string;
  note?: string | undefined;
  href?: string;
  run?: () => void;
}

/** Matches if each word of the query begins a word of the label. */
const matches = (label: string, query: string): boolean => {
  const words = label.toLowerCase().split(/[\s:/]+/);
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)));
};

const useEntries = (me: Me, query: string): Entry[] => {
  const [, setScheme] = useScheme();
  const [, setZone] = useZoneChoice();
  const found = useSearchResults(query);
  const places = groupsFor(me.operations).flatMap((group) => group.places);
  const others = otherPlaces.filter(({ operation }) => !operation || me.operations.includes(operation));
  const recent = recentVisits().map(({ href, label }) => ({ group: shell.groupRecent, label, href }));
  const known: Omit<Entry, 'id'>[] = [
    ...(query === '' ? recent : []),
    ...[...places, ...others].map(({ label, href }) => ({ group: shell.groupPages, label, href })),
    ...places
      .filter(({ create }) => create && me.operations.includes(create.operation))
      .map(({ create }) => ({ group: shell.groupNew, label: create!.label, href: create!.href })),
    ...schemes.map((scheme) => ({
      group: shell.groupDisplay,
      label: shell.themeIs(shell.themes[scheme]),
      run: () => setScheme(scheme),
    })),
    ...zoneChoices.map((zone) => ({
      group: shell.groupDisplay,
      label: shell.zoneIs(shell.zones[zone]),
      run: () => setZone(zone),
    })),
  ];
  return [
    ...known.filter(({ label }) => query === '' || matches(label, query)),
    ...found.map(({ label, note, href }) => ({ group: shell.groupFound, label, note, href })),
  ].map((entry, index) => ({ ...entry, id: `${index}` }));
};

const List = ({ me, onClose }: { me: Me; onClose: () => void }) => {
  const id = useId();
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const entries = useEntries(me, query.trim());
  const chosen = Math.min(active, entries.length - 1);
  const openEntry = (entry: Entry, newTab: boolean) => {
    if (entry.href && newTab) window.open(entry.href, '_blank', 'noopener');
    else if (entry.href) void navigate({ href: entry.href });
    else entry.run?.();
    if (!newTab) onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const next = (chosen + step + entries.length) % Math.max(1, entries.length);
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && entries[chosen]) {
      event.preventDefault();
      openEntry(entries[chosen], event.ctrlKey || event.metaKey);
    }
  };
  return (
    <div className={css.palette}>
      <input
        className={css.input}
        type="search"
        role="combobox"
        aria-label={shell.find}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={entries[chosen] ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder={shell.findHint}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label={shell.find} className={css.list}>
        {entries.map((entry, index) => {
          const props = {
            id: `${id}-${index}`,
            role: 'option',
            'aria-selected': index === chosen,
            tabIndex: -1,
            className: cx(css.entry, index === chosen && css.active),
            onMouseMove: () => setActive(index),
          } as const;
          const inside = (
            <>
              <span>{entry.label}</span>
              <span className={css.note}>{entry.note ?? entry.group}</span>
            </>
          );
          return entry.href ? (
            <Link
              key={entry.id}
              href={entry.href}
              {...props}
              onClick={(event) => !(event.ctrlKey || event.metaKey) && onClose()}
            >
              {inside}
            </Link>
          ) : (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above.
            // biome-ignore lint/a11y/noStaticElementInteractions: its role is among the properties.
            <div key={entry.id} {...props} onClick={() => openEntry(entry, false)}>
              {inside}
            </div>
          );
        })}
      </div>
      {entries.length === 0 && <p className={css.none}>{shell.nothingFound}</p>}
      <p className={css.hint}>{shell.openHint}</p>
    </div>
  );
};

/** Finds pages, things and choices by name (Ctrl+K). Its entries are links. */
export const Palette = ({ open, onClose, me }: { open: boolean; onClose: () => void; me: Me }) => (
  <Dialog open={open} onClose={onClose} title={shell.find}>
    <List me={me} onClose={onClose} />
  </Dialog>
);

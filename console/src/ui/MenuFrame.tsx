import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/ScrollArea.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/Popover.layer.css';
import '@mantine/core/styles/Menu.layer.css';
import { Menu as MantineMenu } from '@mantine/core';
import { Fragment, useRef } from 'react';
import { cx } from './cx.ts';
import { isWebAddress, Link } from './Link.tsx';
import css from './Menu.module.css';
import { MenuButton, type MenuEntry, type MenuProps } from './MenuButton.tsx';

const markDisabled = (item: HTMLElement | null) => item?.setAttribute('aria-disabled', 'true');

const Entry = ({ entry, onChoose }: { entry: MenuEntry; onChoose: () => void }) => {
  const { label, href, onSelect, danger, disabledReason } = entry;
  const className = cx(css.item, danger && css.danger, disabledReason && css.off);
  const inside = (
    <>
      {label}
      {disabledReason && <span className={css.reason}>{disabledReason}</span>}
    </>
  );
  if (href && !disabledReason) {
    return (
      <MantineMenu.Item component={Link} href={href} className={className}>
        {inside}
        {isWebAddress(href) && <span className={css.reason}>{new URL(href).host}</span>}
      </MantineMenu.Item>
    );
  }
  return (
    <MantineMenu.Item
      className={className}
      // Mantine drops `aria-disabled` and skips items that are disabled; ours keep their focus.
      ref={disabledReason ? markDisabled : undefined}
      closeMenuOnClick={!disabledReason}
      onClick={
        disabledReason
          ? undefined
          : () => {
              onChoose();
              onSelect?.();
            }
      }
    >
      {inside}
    </MantineMenu.Item>
  );
};

/** The menu itself, open from the start: `Menu` loads it when its button is first used. */
export const MenuFrame = ({ entries, ...button }: MenuProps) => {
  const target = useRef<HTMLButtonElement>(null);
  // The entry is gone when what it opens closes: the focus goes back to the button.
  const toButton = () => target.current?.focus({ preventScroll: true });
  return (
    <MantineMenu
      defaultOpened
      position="bottom-end"
      offset={4}
      width={232}
      loop
      withInitialFocusPlaceholder={false}
    >
      <MantineMenu.Target>
        <MenuButton {...button} ref={target} />
      </MantineMenu.Target>
      <MantineMenu.Dropdown aria-label={button.label}>
        {entries.map((entry) => (
          <Fragment key={entry.label}>
            {entry.group && <MantineMenu.Divider />}
            {typeof entry.group === 'string' && <MantineMenu.Label>{entry.group}</MantineMenu.Label>}
            <Entry entry={entry} onChoose={toButton} />
          </Fragment>
        ))}
      </MantineMenu.Dropdown>
    </MantineMenu>
  );
};

import type { ReactNode } from 'react';
import { Button, type ButtonProps, IconButton } from './Button.tsx';
import { DotsIcon } from './icons.tsx';

export interface MenuEntry {
  label: string;
  href?: string;
  onSelect?: () => void;
  danger?: boolean;
  /** Reason why it is off. It stays in the menu, with the reason below. */
  disabledReason?: string | null | undefined;
  /** Starts a group, with this heading if it is a text. */
  group?: string | true;
}

export interface MenuProps {
  /** The name of the menu and of its button: "More actions for Nightly close". */
  label: string;
  entries: readonly MenuEntry[];
  children?: ReactNode;
}

/** The button of a menu. The props that are not named come from the menu that it opens. */
export const MenuButton = ({
  label,
  children,
  ...rest
}: Omit<MenuProps, 'entries'> & Omit<ButtonProps, 'children'>) =>
  children === undefined ? (
    <IconButton aria-haspopup="menu" {...rest} label={label}>
      <DotsIcon />
    </IconButton>
  ) : (
    <Button aria-haspopup="menu" {...rest} aria-label={label}>
      {children}
    </Button>
  );

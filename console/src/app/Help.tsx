import type { Me } from '../api/me.ts';
import { shell } from '../text/en/shell.ts';
import { Dialog } from '../ui/Dialog.tsx';
import css from './Help.module.css';
import { groupsFor } from './navigation.tsx';

export const Help = ({ open, onClose, me }: { open: boolean; onClose: () => void; me: Me }) => {
  const words = shell.helpKeys;
  const keys: [string[], string][] = [
    [['Ctrl', 'K'], words.palette],
    [['?'], words.help],
    [['/'], words.filter],
    [['j'], words.next],
    [['k'], words.previous],
    [['x'], words.select],
    [['Enter'], words.open],
    ...groupsFor(me.operations)
      .flatMap((group) => group.places)
      .filter(({ letter }) => letter)
      .map(({ letter, label }): [string[], string] => [['g', letter!], words.go(label)]),
  ];
  return (
    <Dialog open={open} onClose={onClose} title={shell.help}>
      <dl className={css.keys}>
        {keys.map(([names, meaning]) => (
          <div key={names.join(' ')}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
};

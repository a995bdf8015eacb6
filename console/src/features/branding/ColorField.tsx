import type { FieldProps } from '../../api/index.ts';
import { branding as words } from '../../text/en/branding.ts';
import { readColor, TextField } from '../../ui/index.ts';
import css from './Branding.module.css';

export const ColorField = (props: FieldProps<string>) => (
  <TextField
    {...props}
    label={words.color}
    hint={words.colorHint}
    mono
    suffix={
      !props.disabledReason && (
        <input
          type="color"
          className={css.pick}
          aria-label={words.pick}
          value={readColor(props.value) ? props.value : '#3a4bb8'}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        />
      )
    }
  />
);

import { text } from '#text/shared';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { DataColumn } from './data-table.tsx';
import { MoreIcon } from './icons.tsx';

export interface MenuAction {
  readonly label: string;
  readonly isDangerous?: boolean;
  run(): void;
}

/** A menu of what can be done with one row. */
const RowMenu = ({ label, actions }: { label: string; actions: readonly MenuAction[] }) => (
  <MenuTrigger>
    <AriaButton className="button quiet square" aria-label={label}>
      <MoreIcon />
    </AriaButton>
    <Popover className="popover" placement="bottom end">
      <Menu className="options">
        {actions.map((action) => (
          <MenuItem
            key={action.label}
            className={action.isDangerous ? 'react-aria-MenuItem danger' : 'react-aria-MenuItem'}
            onAction={() => action.run()}
          >
            {action.label}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  </MenuTrigger>
);

interface MenuColumnOptions<Item> {
  getName(item: Item): string;
  listActions(item: Item): readonly MenuAction[];
}

/** The last column of a list: what can be done with each row. */
export const createMenuColumn = <Item,>({
  getName,
  listActions,
}: MenuColumnOptions<Item>): DataColumn<Item> => ({
  id: 'actions',
  label: text.actions,
  isNarrow: true,
  isUnlabelled: true,
  render(item) {
    const actions = listActions(item);
    return actions.length > 0 && <RowMenu label={text.actionsFor(getName(item))} actions={actions} />;
  },
});

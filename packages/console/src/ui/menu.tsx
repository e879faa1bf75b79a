import { text } from '#text/shared';
import type { DataColumn } from './data-table.tsx';
import { MoreIcon } from './icons.tsx';
import { MenuButton } from './menu-button.tsx';
import type { MenuAction } from './open-menu.tsx';

export type { MenuAction } from './open-menu.tsx';

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
    return (
      actions.length > 0 && (
        <MenuButton
          className="button quiet square"
          label={text.actionsFor(getName(item))}
          placement="bottom end"
          actions={actions}
        >
          <MoreIcon />
        </MenuButton>
      )
    );
  },
});

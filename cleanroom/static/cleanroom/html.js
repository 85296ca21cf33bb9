// html.js: the one template tag; components are written with it.
// @ts-check
import { Component, createContext, h } from 'preact'
import { useContext } from 'preact/hooks'
import htm from 'htm'

export const html = /** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */ (htm.bind(h))

/** The room everything on the page is about. */
export const RoomContext = createContext(/** @type {import('./room.js').Room | null} */ (null))

/** @returns {import('./room.js').Room} */
export function useRoom() {
  return /** @type {import('./room.js').Room} */ (useContext(RoomContext))
}

/** Draw `View` again only when one of its own properties is another value. @param {(props: any) => any} View */
export function pure(View) {
  return class extends Component {
    /** @param {Record<string, any>} next */
    shouldComponentUpdate(next) {
      const held = /** @type {Record<string, any>} */ (this.props)
      return Object.keys(next).some((key) => key !== 'children' && next[key] !== held[key])
    }

    render() {
      return h(/** @type {any} */ (View), this.props)
    }
  }
}

"""Texts that have no place among news stories, written for the tests."""

__all__ = ["STRANGERS"]

STRANGERS = {
    "german": (
        "Der Rat der Stadt hat gestern beschlossen, die alte Brücke über den Fluss noch in "
        "diesem Jahr zu erneuern. Die Arbeiten sollen im Herbst beginnen und werden "
        "voraussichtlich mehrere Monate dauern. Anwohner müssen in dieser Zeit mit Umleitungen "
        "rechnen, sagte ein Sprecher der Verwaltung."
    ),
    "code": (
        "def merge(left, right):\n    out = []\n    i = j = 0\n    while i < len(left) and "
        "j < len(right):\n        if left[i] <= right[j]:\n            out.append(left[i]); "
        "i += 1\n        else:\n            out.append(right[j]); j += 1\n    return out + "
        "left[i:] + right[j:]\n"
    ),
    "base64": (
        "aGVyZSBpcyBhIGxpdHRsZSB0ZXh0IHRoYXQgd2FzIHBhY2tlZCBpbnRvIGxldHRlcnMgYW5k\n"
        "IGRpZ2l0cyBzbyB0aGF0IGl0IGNhbiB0cmF2ZWwgYnkgbWFpbCB3aXRob3V0IGxvc3Mgb2Yg\n"
        "YW55IGJpdHMgb24gdGhlIHdheS4gTm8gcGVyc29uIHJlYWRzIGl0IGxpa2UgdGhpcy4="
    ),
    "recipe": (
        "Preheat the oven and butter a round tin. Whisk two eggs with a cup of sugar until "
        "pale, then fold in the flour, a pinch of salt and a teaspoon of vanilla. Add the "
        "melted butter and the chopped walnuts, pour the batter into the tin and bake for "
        "forty minutes. Let the cake cool, dust it with cinnamon and serve with whipped cream."
    ),
    "lorem": (
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor "
        "incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud "
        "exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat."
    ),
    "spam": (
        "CONGRATULATIONS!!! You have been selected to receive a FREE gift card!!! Click here "
        "NOW to claim your prize >>> limited offer, act today!!! 100% FREE, no credit card "
        "needed. Make $$$ from home, lose weight fast, buy cheap pills online. Reply STOP to "
        "unsubscribe."
    ),
}

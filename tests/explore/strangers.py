"""Texts that have no place in a collection, written for the tests.

The measures of unfamiliarity were chosen with ``STRANGERS``; ``OTHERS`` were not looked at.
"""

__all__ = ["OTHERS", "STRANGERS"]

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

OTHERS = {
    "french": (
        "Le conseil municipal s'est réuni hier soir pour examiner le projet de nouvelle "
        "bibliothèque. Plusieurs habitants ont pris la parole et demandé que les arbres de la "
        "place soient conservés. Le maire a promis une réponse avant la fin du mois, sans "
        "donner plus de détails sur le budget."
    ),
    "table": (
        "id,date,store,sku,qty,unit_price,total\n10041,2019-03-02,07,AX-2210,3,4.95,14.85\n"
        "10042,2019-03-02,07,BC-0031,1,19.90,19.90\n10043,2019-03-02,11,AX-2210,2,4.95,9.90\n"
        "10044,2019-03-03,11,DD-7450,12,0.85,10.20\n10045,2019-03-03,02,BC-0044,1,24.50,24.50\n"
    ),
    "poem": (
        "O lantern of the quiet reeds,\nthou pale and drifting moth of flame,\nwhat sorrow in "
        "the heron's cry,\nwhat dew has wept upon thy name?\nThe willow bends, the rushes "
        "sigh,\nthe silver minnows dart and gleam,\nand evening lays her violet cloak\nupon "
        "the shoulders of the stream."
    ),
    "log": (
        "2021-07-14T03:12:55.402Z WARN [pool-3-thread-7] c.e.db.ConnPool - acquire timed out "
        "after 30000ms (active=50 idle=0 waiting=12)\n2021-07-14T03:12:55.911Z ERROR "
        "[pool-3-thread-9] c.e.api.Handler - GET /v2/items/8841 500 "
        "java.sql.SQLTransientException\n2021-07-14T03:12:56.004Z INFO [main] c.e.db.ConnPool "
        "- retry 1/5"
    ),
    "repeated": " ".join(["banana"] * 60),
    "json": (
        '{"device": {"id": "a81f-22c0", "fw": "1.4.9", "uptime_s": 88213, "sensors": [{"t": '
        '"temp", "v": 21.7}, {"t": "hum", "v": 0.44}], "net": {"ssid": null, "rssi": -61, '
        '"ip": "10.0.3.17"}}, "ok": true, "errs": []}'
    ),
}

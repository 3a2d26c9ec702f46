"""Pictures for people, drawn with numpy and Pillow: charts, overlays, contact sheets, views from above."""
